// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// pretend answers a call with a task that fails later: nothing is carried out.
func (p *PVE) pretend(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
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
	writeResult(w, p.begin(&task{Node: c.at(), Type: "qmdestroy", ID: params["vmid"], User: c.who, Kind: "pretended"}))
}

// endPretended is a delete that gets no lock in time.
func endPretended(_ *PVE, t *task) error {
	return fail("can't lock file '/var/lock/qemu-server/lock-%s.conf' - got timeout", t.ID)
}

// Note implements fault.Past.
func (p *PVE) Note(moment time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.past[moment] == nil {
		p.past[moment] = p.st.snapshot()
	}
}

// Answer implements fault.Past.
func (p *PVE) Answer(w http.ResponseWriter, r *http.Request, moment time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	then := p.past[moment]
	if then == nil {
		then = p.st
	}
	p.respond(w, r, &call{PVE: p, st: then, now: time.Now()})
}

// Prepare implements facade.API. The second platform is another cluster with the same nodes
// and accounts, in which nothing can run.
func (p *PVE) Prepare(_ context.Context, plan fault.Plan) error {
	if !plan.Has(fault.SecondPlatform) {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.second != nil {
		return nil
	}
	o := p.options
	o.Dir, o.Faults, o.Auditor, o.Network = filepath.Join(o.Dir, "second"), nil, nil, nil
	second, err := newPVE(o, p.seed, secondCluster, false)
	if err != nil {
		return fmt.Errorf("start the second platform: %w", err)
	}
	second.st.accounts, second.mu = p.st.accounts, p.mu
	second.ctx, second.front, second.admin = p.ctx, p.front, p.admin
	p.second = second
	return nil
}

func (p *PVE) serveSecond(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	second := p.second
	p.mu.Unlock()
	if second == nil {
		http.Error(w, "the second platform does not run", http.StatusServiceUnavailable)
		return
	}
	second.ServeHTTP(w, r)
}

// clone copies a VM that runs, if the fault plan says so, as a restore from a backup does:
// with its description and tags, and switched off.
func (p *PVE) clone(g *guest) {
	if !g.Copy && p.options.Faults.Cloned(g.name()) {
		p.copyGuest(g, g.name()+"-clone")
	}
}

// copyGuest creates a stopped copy of a VM with disks of its own.
func (p *PVE) copyGuest(g *guest, name string) *guest {
	id := g.VMID + 1
	for p.st.guests.ByID[strconv.Itoa(id)] != nil {
		id++
	}
	copied := &guest{VMID: id, Node: g.Node, UUID: uuid.NewString(), Config: maps.Clone(g.Config), Pending: map[string]string{}, Image: g.Image, Copy: true}
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

// drainLater moves a VM to another node when the fault plan drains its host: as the disks
// are local, it restarts there.
func (p *PVE) drainLater(g *guest) {
	after, hit := p.options.Faults.DrainedAfter(g.name())
	if !hit {
		return
	}
	p.later(after, func() {
		if g.Running && p.st.guests.ByID[g.id()] == g {
			p.Drain(g.VMID)
		}
	})
}

// Drain moves a VM to the next node that is online, with a restart. It is called under the
// lock.
func (p *PVE) Drain(vmid int) {
	g := p.st.guests.ByID[strconv.Itoa(vmid)]
	if g == nil {
		return
	}
	for i := range p.seed.Nodes {
		n := &p.seed.Nodes[(i+1)%len(p.seed.Nodes)]
		if p.seed.Nodes[i].Name != g.Node {
			continue
		}
		p.halt(g)
		if n.Name != g.Node && !n.Offline {
			p.move(g, n.Name)
		}
		p.restart(g)
		return
	}
}

// restart powers a VM on again.
func (p *PVE) restart(g *guest) {
	if err := p.powerOn(g); err != nil {
		p.options.Log.Error("start a VM again", "vmid", g.VMID, "err", err)
		return
	}
	g.Running, g.Started = true, time.Now()
	p.st.put(g)
	p.auditGuest(g)
}

// followPlans has the faults of a new plan happen to the machines that run.
func (p *PVE) followPlans() {
	replaced := p.options.Faults.Replaced()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-replaced:
		}
		replaced = p.options.Faults.Replaced()
		p.mu.Lock()
		for _, g := range p.st.guests.All() {
			if g.Running {
				p.clone(g)
				p.drainLater(g)
			}
		}
		p.mu.Unlock()
	}
}

// createConflict creates a stopped VM of a name, without an owner.
func (p *PVE) createConflict(_ context.Context, name string) (func(context.Context) error, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.st.guestNamed(name) != nil {
		return nil, nil
	}
	id := 100
	for p.st.guests.ByID[strconv.Itoa(id)] != nil {
		id++
	}
	g := &guest{VMID: id, Node: p.local(), UUID: uuid.NewString(), Config: map[string]string{"name": name, "memory": "1024", "cores": "1"}, Pending: map[string]string{}}
	p.st.put(g)
	return func(context.Context) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.st.guests.ByID[g.id()] != g {
			return errors.New("the conflicting VM is gone")
		}
		p.drop(g)
		return nil
	}, nil
}
