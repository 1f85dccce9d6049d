// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// The accounts of the user and of its token, as the guide names them.
const (
	userID  = "butler@pve"
	tokenID = "butler@pve!butler"
	adminID = root + "!admin"
)

// install creates what the seed names and does not exist.
func (p *PVE) install() (err error) {
	if p.st.grants, err = readGrants(p.seed.Commands); err != nil {
		return err
	}
	for _, a := range []account{
		{ID: root, Secret: randomHex(16)},
		{ID: adminID, Secret: uuid.NewString()},
		{ID: userID, Secret: randomHex(16)},
		{ID: tokenID, Secret: uuid.NewString(), Separated: true},
	} {
		p.st.accounts.Ensure(a.ID, &a)
	}
	for _, t := range p.seed.Templates {
		if p.node(t.Node) == nil || p.storage(t.Storage) == nil {
			return fmt.Errorf("template %d: node %s or storage %s does not exist", t.VMID, t.Node, t.Storage)
		}
		p.installTemplate(t)
	}
	return nil
}

// installTemplate creates a template as the guide does, with a disk, a network device and a
// serial console.
func (p *PVE) installTemplate(t Template) {
	id := fmt.Sprint(t.VMID)
	if p.st.guests.ByID[id] != nil {
		return
	}
	g := &guest{VMID: t.VMID, Node: t.Node, UUID: uuid.NewString(), Image: t.Image, Pending: map[string]string{}}
	prefix := "base"
	if t.Plain {
		prefix = "vm"
	}
	v := p.newVolume(g, p.storage(t.Storage), prefix, int64(t.DiskGB)<<30)
	v.Image = t.Image
	p.st.volumes.Put(v.key(), v)
	g.Config = map[string]string{
		"name": t.Name, "cores": "2", "cpu": "host", "memory": "2048", "ostype": "l26", "agent": "enabled=1", "serial0": "socket",
		"boot": "order=virtio0", "virtio0": v.ID + ",size=" + sizeText(v.Bytes), "net0": "virtio=" + randomMAC() + ",bridge=" + p.node(t.Node).Bridges[0],
		"smbios1": "uuid=" + g.UUID, "meta": "creation-qemu=10.1.2,ctime=" + fmt.Sprint(installed().Unix()),
	}
	if _, schematic, _ := strings.Cut(t.Image, " "); schematic != "" {
		g.Config["description"] = schematic
	}
	if !t.Plain {
		g.Config["template"] = "1"
	}
	if t.Lock != "" {
		g.Config["lock"] = t.Lock
	}
	p.st.put(g)
}

// installed is when the templates were created.
func installed() time.Time { return time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC) }

func randomHex(bytes int) string {
	raw := make([]byte, bytes)
	_, _ = rand.Read(raw) // never fails
	return hex.EncodeToString(raw)
}

// randomMAC is an address with the prefix of the platform.
func randomMAC() string {
	raw := make([]byte, 3)
	_, _ = rand.Read(raw) // never fails
	return fmt.Sprintf("BC:24:11:%02X:%02X:%02X", raw[0], raw[1], raw[2])
}

// node returns a node of the cluster, or nil.
func (p *PVE) node(name string) *Node {
	for i := range p.seed.Nodes {
		if p.seed.Nodes[i].Name == name {
			return &p.seed.Nodes[i]
		}
	}
	return nil
}

// storage returns a storage of the cluster, or nil.
func (p *PVE) storage(name string) *Storage {
	for i := range p.seed.Storage {
		if p.seed.Storage[i].Name == name {
			return &p.seed.Storage[i]
		}
	}
	return nil
}
