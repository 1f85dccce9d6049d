// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// newDisk is a drive that is to be created: a storage and a size in gigabytes.
var newDisk = regexp.MustCompile(`^(?:([^/:\s]+):)?(\d+(?:\.\d+)?)$`)

// checkDrive refuses a drive that cannot be attached.
func (c *call) checkDrive(g *guest, name string) error {
	drive := parseDrive(name, c.params[name])
	file := drive["file"]
	switch {
	case drive["import-from"] != "":
		return fail("the simulated platform does not import disks")
	case file == "none" || file == "cdrom":
		return nil
	case strings.HasPrefix(file, "/"):
		if !c.isRoot() {
			return fail("Only root can pass arbitrary filesystem paths.")
		}
		return fail("the simulated platform has no file %s", file)
	}
	if created := newDisk.FindStringSubmatch(file); created != nil {
		return c.checkNewDisk(created[1])
	}
	return c.checkVolume(g, name, drive)
}

func (c *call) checkNewDisk(storage string) error {
	if storage == "" {
		return fail("no storage ID specified (and no default storage)")
	}
	if err := c.need("/storage/"+storage, "Datastore.AllocateSpace"); err != nil {
		return err
	}
	s, err := c.storageFor(storage, c.at())
	if err != nil {
		return err
	}
	if !s.has("images") {
		return wrongParam("storage", "storage '%s' does not support vm images", storage)
	}
	return nil
}

// checkVolume refuses a volume that does not exist or belongs to another.
func (c *call) checkVolume(g *guest, name string, drive map[string]string) error {
	file := drive["file"]
	if strings.HasSuffix(file, ":cloudinit") {
		_, err := c.storageFor(storageName(file), c.at())
		return err
	}
	if _, err := c.storageFor(storageName(file), c.at()); err != nil {
		return err
	}
	iso := strings.Contains(file, ":iso/")
	if iso && drive["media"] != "cdrom" {
		return wrongParam(name, "explicit 'media=cdrom' is required for iso images")
	}
	if err := c.allowVolume(file, g.VMID); err != nil {
		return err
	}
	if c.st.volumeAt(file, g.Node) == nil {
		return fail("volume '%s' does not exist", file)
	}
	return nil
}

var diskOwner = regexp.MustCompile(`(?:vm|base)-(\d+)-`)

// ownerOf is the VM that a volume's name says it belongs to; 0: none.
func ownerOf(file string) int {
	found := diskOwner.FindAllStringSubmatch(file, -1)
	if len(found) == 0 || strings.Contains(file, ":iso/") {
		return 0
	}
	id, _ := strconv.Atoi(found[len(found)-1][1])
	return id
}

// allowVolume needs the right to use a volume for a VM, 0 for none.
func (c *call) allowVolume(file string, vmid int) error {
	path := "/storage/" + storageName(file)
	if c.may(path, "Datastore.Allocate") {
		return nil
	}
	owner := ownerOf(file)
	switch owner {
	case 0:
		return c.needAny(path, "Datastore.AllocateSpace", "Datastore.Audit")
	case vmid:
		return nil
	}
	if err := c.need(path, "Datastore.Audit"); err != nil {
		return err
	}
	return c.need(fmt.Sprintf("/vms/%d", owner), "VM.Config.Disk")
}

// allowDrive needs the privileges for the drive that is, and for the one that is to be.
func (c *call) allowDrive(g *guest, name, value string) error {
	for _, one := range []string{g.current()[name], value} {
		if one == "" {
			continue
		}
		drive := parseDrive(name, one)
		right := []string{"VM.Config.Disk"}
		switch {
		case isCloudinit(drive) || strings.HasSuffix(drive["file"], ":cloudinit"):
			right = []string{"VM.Config.Cloudinit", "VM.Config.CDROM"}
		case isCDROM(drive):
			right = []string{"VM.Config.CDROM"}
		}
		if err := c.need(g.path(), right...); err != nil {
			return err
		}
	}
	return nil
}

// attach creates the volume of a new drive, and returns the option as it is kept.
func (c *call) attach(g *guest, name, value string) (string, error) {
	drive := parseDrive(name, value)
	if before := parseDrive(name, g.Config[name]); before["file"] != "" && before["file"] != drive["file"] {
		if v := c.st.volumeAt(before["file"], g.Node); v != nil && v.VMID == g.VMID && !isCloudinit(before) {
			c.setUnused(g, v.ID)
		}
	}
	switch created := newDisk.FindStringSubmatch(drive["file"]); {
	case created != nil && isCDROM(drive):
		return value, nil
	case created != nil:
		return c.attachNew(g, name, drive, created)
	case strings.HasSuffix(drive["file"], ":cloudinit"):
		v, err := c.newCloudinit(g, c.storage(storageName(drive["file"])))
		if err != nil {
			return "", err
		}
		drive["file"], drive["media"], drive["size"] = v.ID, "cdrom", sizeText(v.Bytes)
		return printDrive(name, drive), nil
	}
	if v := c.st.volumeAt(drive["file"], g.Node); v != nil {
		drive["size"] = sizeText(v.Bytes)
		c.adopt(g, name, v)
	}
	return printDrive(name, drive), nil
}

// adopt has a volume belong to the VM that it is attached to. One that was unused is in use
// again.
func (c *call) adopt(g *guest, name string, v *volume) {
	if v.Owner.OwnerID == "" {
		v.Owner = g.owner()
		c.st.volumes.Put(v.key(), v)
		c.auditVolume(v)
	}
	for i := range 256 {
		if unused := fmt.Sprint("unused", i); unused != name && g.Config[unused] == v.ID {
			delete(g.Config, unused)
		}
	}
}

func (c *call) attachNew(g *guest, name string, drive map[string]string, created []string) (string, error) {
	size, _ := strconv.ParseFloat(created[2], 64)
	s := c.storage(created[1])
	bytes := int64(size * (1 << 30))
	switch {
	case strings.HasPrefix(name, "efidisk"):
		bytes = 528 << 10
	case strings.HasPrefix(name, "tpmstate"):
		bytes = 4 << 20
	case bytes == 0:
		return "", fail("unable to create disk '%s': size must be positive", name)
	}
	v := c.newVolume(g, s, "vm", bytes)
	v.Owner = g.owner()
	if err := c.alloc(v, s); err != nil {
		return "", err
	}
	drive["file"], drive["size"] = v.ID, sizeText(v.Bytes)
	delete(drive, "format")
	return printDrive(name, drive), nil
}

// newCloudinit creates the volume that the platform writes cloud-init data to.
func (p *PVE) newCloudinit(g *guest, s *Storage) (*volume, error) {
	v := &volume{
		ID: volumeID(s, g.VMID, fmt.Sprintf("vm-%d-cloudinit", g.VMID)), Storage: s.Name, VMID: g.VMID, Content: "images", Format: "raw", Bytes: 4 << 20, Created: time.Now(), Owner: g.owner(),
	}
	if !s.Shared {
		v.Node = g.Node
	}
	if p.st.volumes.ByID[v.key()] != nil {
		return v, nil
	}
	return v, p.alloc(v, s)
}

// resizeDisk begins to extend a disk.
func resizeDisk(c *call) (any, error) {
	if c.params["skiplock"] == "1" && !c.isRoot() {
		return nil, wrongParam("skiplock", "Only root may use this option.")
	}
	if !inUse(c.params["disk"]) || settings()[c.params["disk"]].field == nil {
		return nil, wrongParam("disk", "value '%s' does not have a value in the enumeration '%s'", c.params["disk"], strings.Join(driveNames(), ", "))
	}
	params := map[string]string{"disk": c.params["disk"], "size": c.params["size"], "digest": c.params["digest"], "vmid": c.params["vmid"], "node": c.at(), asUser: c.who}
	return c.fork("resize", c.params["vmid"], params), nil
}

func driveNames() (out []string) {
	for name := range settings() {
		if inUse(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// endResize extends a disk. Its checks are part of the task.
func endResize(p *PVE, t *task) error {
	c := p.taskCall(t)
	g, err := c.guest()
	if err != nil {
		return err
	}
	if err := c.checkState(g); err != nil {
		return err
	}
	name := c.params["disk"]
	if g.Config[name] == "" {
		return fail("disk '%s' does not exist", name)
	}
	drive := parseDrive(name, g.Config[name])
	if isCDROM(drive) {
		return fail("you can't resize a cdrom")
	}
	v := p.st.volumeAt(drive["file"], g.Node)
	if v == nil {
		return fail("Could not determine current size of volume '%s'", drive["file"])
	}
	if err := c.need("/storage/"+v.Storage, "Datastore.AllocateSpace"); err != nil {
		return err
	}
	more, relative := strings.CutPrefix(c.params["size"], "+")
	size := parseSize(more)
	if relative {
		size += v.Bytes
	}
	if size < v.Bytes {
		return fail("shrinking disks is not supported")
	}
	s := p.storage(v.Storage)
	if total, used := p.usage(s, v.Node); !s.overcommits() && used+size-v.Bytes > total {
		return fail("%s", fullText(v, s))
	}
	v.Bytes, drive["size"] = size, sizeText(size)
	g.Config[name] = printDrive(name, drive)
	p.st.volumes.Put(v.key(), v)
	p.st.put(g)
	return nil
}
