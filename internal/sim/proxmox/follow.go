// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"time"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// died has a VM stopped whose guest has shut down, or whose QEMU has ended: nothing starts
// it again but HA, which is not simulated.
func (p *PVE) died(id string, run datacenter.Run) {
	g := p.st.guests.ByID[run.Spec.Ref]
	if g == nil || g.UUID != id || !g.Running {
		return
	}
	p.stopped(g)
}

// stopped records that a VM does not run.
func (p *PVE) stopped(g *guest) {
	g.Running = false
	p.applyPending(g)
	p.st.put(g)
	p.auditGuest(g)
}

// started records that a VM runs.
func (p *PVE) started(g *guest) {
	g.Running, g.Started = true, time.Now()
	p.st.put(g)
	p.auditGuest(g)
}

// resume powers the machines on that should run after a restart of the simulator, and
// continues tasks.
func (p *PVE) resume() {
	p.auditAll()
	for _, g := range p.st.guests.All() {
		if !g.Running || g.Copy {
			continue
		}
		if err := p.powerOn(g); err != nil {
			p.Options.Log.Error("power on a VM", "vmid", g.VMID, "err", err)
		}
	}
	for _, t := range p.st.tasks.All() {
		p.pids = max(p.pids, t.PID)
		if t.running() {
			p.work(t)
		}
	}
	go p.watchStatus()
}
