// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/butlerdotdev/butler/internal/sim/cloud"
)

// pretend answers a call with a task that fails later: nothing is carried out.
func (p *PVE) pretend(w http.ResponseWriter, r *http.Request) {
	p.Lock()
	defer p.Unlock()
	t, params := p.find(r)
	c := &call{PVE: p, st: p.st, now: time.Now(), route: t, params: params}
	if err := c.authenticate(r); err != nil {
		writeRefusal(w, err)
		return
	}
	g, err := c.guest()
	if err == nil {
		err = checkDestroy(g)
	}
	if err != nil {
		writeRefusal(w, err)
		return
	}
	answer, err := encode(p.begin(&task{Node: c.at(), Type: "qmdestroy", ID: params["vmid"], User: c.who, Kind: "pretended"}))
	write(w, answer, err)
}

// endPretended is a delete that gets no lock in time.
func endPretended(_ *PVE, t *task) error {
	return fail("can't lock file '/var/lock/qemu-server/lock-%s.conf' - got timeout", t.ID)
}

// running returns the machines that run.
func (p *PVE) running() (out []cloud.Machine) {
	for _, g := range p.st.guests.All() {
		if g.Running {
			out = append(out, p.machine(g))
		}
	}
	return out
}

// machine is that of a VM. A copy is one that a restore from a backup has created: with
// description and tags, and switched off.
func (p *PVE) machine(g *guest) cloud.Machine {
	return cloud.Machine{
		ID: g.UUID, Name: g.name(), Copy: g.Copy, Runs: func() bool { return g.Running && p.st.guests.ByID[g.id()] == g },
		Clone: func() { p.copyGuest(g, g.name()+"-clone") }, PowerOn: func() error { return p.evacuate(g) },
	}
}

// copyGuest creates a stopped copy of a VM with disks of its own.
func (p *PVE) copyGuest(g *guest, name string) *guest {
	copied := &guest{VMID: p.freeID(g.VMID + 1), Node: g.Node, UUID: uuid.NewString(), Config: maps.Clone(g.Config), Pending: map[string]string{}, Image: g.Image, Copy: true}
	copied.Config["name"], copied.Config["smbios1"] = name, "uuid="+copied.UUID
	for option, value := range g.Config {
		drive := parseDrive(option, value)
		v := p.st.volumeAt(drive["file"], g.Node)
		if !inUse(option) || v == nil || v.VMID != g.VMID {
			continue
		}
		c := p.newVolume(copied, p.storage(v.Storage), "vm", v.Bytes)
		c.Image = v.Image
		p.st.volumes.Put(c.key(), c)
		drive["file"] = c.ID
		copied.Config[option] = printDrive(option, drive)
	}
	p.st.put(copied)
	return copied
}

// evacuate starts a VM whose node is drained on the next one that is online: as its disks
// are local, it restarts there.
func (p *PVE) evacuate(g *guest) error {
	p.stopped(g)
	at := slices.IndexFunc(p.seed.Nodes, func(n Node) bool { return n.Name == g.Node })
	if next := p.seed.Nodes[(at+1)%len(p.seed.Nodes)]; next.Name != g.Node && !next.Offline {
		p.move(g, next.Name)
	}
	if err := p.powerOn(g); err != nil {
		return err
	}
	p.started(g)
	return nil
}

// createConflict creates a stopped VM of a name, without an owner.
func (p *PVE) createConflict(name string) (remove func(), err error) {
	if p.st.guestNamed(name) != nil {
		return nil, nil
	}
	id := p.freeID(100)
	g := &guest{VMID: id, Node: p.local(), UUID: uuid.NewString(), Config: map[string]string{"name": name, "memory": "1024", "cores": "1"}, Pending: map[string]string{}}
	p.st.put(g)
	return func() {
		if p.st.guests.ByID[g.id()] == g {
			p.drop(g)
		}
	}, nil
}

// freeID is the first VM ID from one on that is not taken.
func (p *PVE) freeID(id int) int {
	for p.st.guests.ByID[strconv.Itoa(id)] != nil {
		id++
	}
	return id
}
