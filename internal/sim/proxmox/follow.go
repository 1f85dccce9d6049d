// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

// follow reacts to what machines do by themselves.
func (p *PVE) follow() {
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-p.options.Datacenter.Addressed():
		case id := <-p.options.Datacenter.Died():
			p.died(id)
		}
	}
}

// died has a VM stopped whose guest has shut down, or whose QEMU has ended: nothing starts
// it again but HA, which is not simulated.
func (p *PVE) died(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	run, known := p.options.Datacenter.LastRun(id)
	if !known || !run.Died {
		return
	}
	g := p.st.guests.ByID[run.Spec.Ref]
	if g == nil || g.UUID != id || !g.Running {
		return
	}
	g.Running = false
	p.applyPending(g)
	p.st.put(g)
	p.auditGuest(g)
}

// resume powers the machines on that should run after a restart of the simulator, and
// continues tasks.
func (p *PVE) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.auditAll()
	for _, g := range p.st.guests.All() {
		if !g.Running || g.Copy {
			continue
		}
		if err := p.powerOn(g); err != nil {
			p.options.Log.Error("power on a VM", "vmid", g.VMID, "err", err)
		}
	}
	for _, t := range p.st.tasks.All() {
		p.pids = max(p.pids, t.PID)
		if t.running() {
			p.work(t)
		}
	}
}
