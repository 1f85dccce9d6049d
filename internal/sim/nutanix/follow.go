// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

// maxRestarts is how often in a row a machine that dies at once is started again.
const maxRestarts = 3

// follow reacts to what machines do by themselves.
func (p *Prism) follow() {
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

// died reacts to a machine that ended by itself: a VM whose guest has shut down is off;
// otherwise its host was lost, and high availability starts it on another one.
func (p *Prism) died(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	run, known := p.options.Datacenter.LastRun(id)
	e := p.st.get(kindVM, id)
	if !known || !run.Died || e == nil || !e.On {
		return
	}
	p.off(e)
	if run.Clean || run.FailedStarts > maxRestarts {
		e.resources()["power_state"] = "OFF"
		p.st.put(e)
		return
	}
	if err := p.powerOn(e); err != nil {
		p.options.Log.Error("restart a VM", "vm", e.name(), "err", err)
	}
}

// resume powers the VMs on that were on when the simulator ended. Tasks continue by
// themselves.
func (p *Prism) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.st.all(kindVM) {
		p.auditVM(e)
		if !e.On || e.Copy {
			continue
		}
		if err := p.run(e); err != nil {
			p.options.Log.Error("power on a VM", "vm", e.name(), "err", err)
		}
	}
	for _, k := range p.st.categories.All() {
		p.auditCategory(k)
	}
}

// restart switches a machine off and on again. The VM is on all the time.
func (p *Prism) restart(e *entity) {
	go func() {
		p.options.Datacenter.PowerOff(e.UUID)
		p.mu.Lock()
		defer p.mu.Unlock()
		if !e.On || p.ctx.Err() != nil {
			return
		}
		if err := p.run(e); err != nil {
			p.options.Log.Error("restart a VM", "vm", e.name(), "err", err)
		}
	}()
}
