// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"github.com/butlerdotdev/butler/internal/sim/cloud"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// died reacts to a machine that ended by itself: a VM whose guest has shut down is off;
// otherwise its host was lost, and high availability starts it on another one.
func (p *Prism) died(id string, run datacenter.Run) {
	e := p.st.get(kindVM, id)
	if e == nil || !e.On {
		return
	}
	p.off(e)
	if run.Clean || run.FailedStarts > cloud.MaxRecoveries {
		e.resources()["power_state"] = "OFF"
		p.st.put(e)
		return
	}
	if err := p.powerOn(e); err != nil {
		p.Options.Log.Error("restart a VM", "vm", e.name(), "err", err)
	}
}

// resume powers the VMs on that were on when the simulator ended. Tasks continue by
// themselves.
func (p *Prism) resume() {
	for _, e := range p.st.all(kindVM) {
		p.auditVM(e)
		if !e.On || e.Copy {
			continue
		}
		if err := p.run(e); err != nil {
			p.Options.Log.Error("power on a VM", "vm", e.name(), "err", err)
		}
	}
	for _, k := range p.st.categories.All() {
		p.auditCategory(k)
	}
}

// running returns the machines of VMs that are on.
func (p *Prism) running() (out []cloud.Machine) {
	for _, e := range p.st.all(kindVM) {
		if e.On {
			out = append(out, p.machine(e))
		}
	}
	return out
}

// machine is that of a VM. A copy is what the platform's own clone creates: with description
// and categories, and switched off.
func (p *Prism) machine(e *entity) cloud.Machine {
	return cloud.Machine{
		ID: e.UUID, Name: e.name(), Copy: e.Copy, Runs: func() bool { return e.On },
		Clone: func() { p.copyVM(e, newUUID(), e.name()+"-clone") }, PowerOn: func() error { return p.run(e) },
	}
}
