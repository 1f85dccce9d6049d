// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// storageFor returns a storage that is enabled on a node.
func (p *PVE) storageFor(name, node string) (*Storage, error) {
	s := p.storage(name)
	switch {
	case s == nil:
		return nil, fail("storage '%s' does not exist", name)
	case s.Disabled:
		return nil, fail("storage '%s' is disabled", name)
	case !s.at(node):
		return nil, fail("storage '%s' is not available on node '%s'", name, node)
	}
	return s, nil
}

// newVolume returns a disk of a VM with the next free number. It is not kept yet.
func (p *PVE) newVolume(g *guest, s *Storage, prefix string, bytes int64) *volume {
	v := &volume{Storage: s.Name, VMID: g.VMID, Content: "images", Format: "raw", Bytes: bytes, Created: time.Now(), Owner: g.Owner, Copy: g.Copy}
	if !s.Shared {
		v.Node = g.Node
	}
	for i := 0; ; i++ {
		v.ID = volumeID(s, g.VMID, fmt.Sprintf("%s-%d-disk-%d", prefix, g.VMID, i))
		if !p.volumeNamed(v.ID, v.Node) {
			return v
		}
	}
}

// volumeID is the ID of a disk; those on files have directories and extensions.
func volumeID(s *Storage, vmid int, name string) string {
	if s.onFiles() {
		return fmt.Sprintf("%s:%d/%s.raw", s.Name, vmid, name)
	}
	return s.Name + ":" + name
}

// volumeNamed reports whether a disk of that name exists, also as a difference to another.
func (p *PVE) volumeNamed(id, node string) bool {
	if p.st.volumes.ByID[volumeKey(id, node)] != nil {
		return true
	}
	name := id[strings.LastIndexAny(id, ":/")+1:]
	for _, v := range p.st.volumes.ByID {
		if v.Node == node && strings.HasSuffix(v.ID, "/"+name) && v.Storage+":" == id[:len(v.Storage)+1] {
			return true
		}
	}
	return false
}

// volumeAt returns the volume of an ID as a node sees it, or nil.
func (s *state) volumeAt(id, node string) *volume {
	if v := s.volumes.ByID[volumeKey(id, "")]; v != nil {
		return v
	}
	return s.volumes.ByID[volumeKey(id, node)]
}

// alloc keeps a new volume unless its storage is full.
func (p *PVE) alloc(v *volume, s *Storage) error {
	total, used := p.usage(s, v.Node)
	need := v.Bytes
	if s.overcommits() {
		need = v.Bytes / thin
	}
	if used+need > total {
		return fail("%s", fullText(v, s))
	}
	p.st.volumes.Put(v.key(), v)
	p.auditVolume(v)
	return nil
}

// thin is the part of a disk that is used on storages that allocate what is written.
const thin = 8

// fullText is what the tools of a storage say that has no room.
func fullText(v *volume, s *Storage) string {
	name := v.ID[strings.LastIndexAny(v.ID, ":/")+1:]
	switch s.Type {
	case "lvmthin":
		return fmt.Sprintf("lvcreate 'pve/%s' error:   Cannot create new thin volume, free space in thin pool pve/data reached threshold.", name)
	case "lvm":
		return fmt.Sprintf(`lvcreate '%s/%s' error:   Volume group "%s" has insufficient free space (0 extents): %d required.`, s.Name, name, s.Name, v.Bytes>>22)
	case "zfspool":
		return fmt.Sprintf("zfs error: cannot create '%s/%s': out of space", s.Name, name)
	}
	return fmt.Sprintf("unable to create image: qemu-img: /mnt/pve/%s/images/%d/%s: No space left on device", s.Name, v.VMID, name)
}

// usage is the size of a storage on a node and what is used of it, in bytes.
func (p *PVE) usage(s *Storage, node string) (total, used int64) {
	size := s.SizeGB
	if size == 0 {
		size = 4096
	}
	for _, v := range p.st.volumes.ByID {
		switch {
		case v.Storage != s.Name || v.Node != "" && v.Node != node:
		case s.overcommits() && v.Content == "images":
			used += v.Bytes / thin
		default:
			used += v.Bytes
		}
	}
	return int64(size) << 30, used
}

// free removes a volume.
func (p *PVE) free(v *volume) {
	p.st.volumes.Remove(v.key())
	p.Options.Auditor.Gone(v.resource(), v.key())
}

// linked reports whether another volume is a difference to this one.
func (p *PVE) linked(v *volume) bool {
	for _, other := range p.st.volumes.ByID {
		if other.Parent == v.ID && (v.Node == "" || other.Node == v.Node) {
			return true
		}
	}
	return false
}

// sizeText writes a size as the platform does, in the largest unit that it is a multiple of.
func sizeText(bytes int64) string {
	for _, unit := range []struct {
		shift uint
		name  string
	}{{40, "T"}, {30, "G"}, {20, "M"}, {10, "K"}} {
		if bytes >= 1<<unit.shift && bytes%(1<<unit.shift) == 0 {
			return strconv.FormatInt(bytes>>unit.shift, 10) + unit.name
		}
	}
	return strconv.FormatInt(bytes, 10)
}

// parseSize reads a size with a unit.
func parseSize(text string) int64 {
	shift := map[string]uint{"K": 10, "M": 20, "G": 30, "T": 40}
	unit := strings.TrimLeft(strings.TrimSuffix(text, "iB"), "0123456789.")
	number, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSuffix(text, "iB"), unit), 64)
	if err != nil {
		return 0
	}
	return int64(number * float64(int64(1)<<shift[unit]))
}
