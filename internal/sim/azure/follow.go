// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"github.com/butlerdotdev/butler/internal/sim/cloud"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// died reacts to a machine that ended by itself: a guest that has shut down is stopped, a
// first start that failed is a failed creation; otherwise the host was lost, and the
// machine is healed on another one.
func (a *Azure) died(id string, run datacenter.Run) {
	var r *record
	each(a.st, func(one *record, _ *vm) {
		if one.Machine == id {
			r = one
		}
	})
	if r == nil || !a.runs(r) {
		return
	}
	switch {
	case run.Clean:
		r.Power = powerStopped
		a.st.put(r)
	case run.FailedStarts > 0 && !r.Ran:
		r.Power = powerStopped
		a.failVM(r, &failure{"VMStartTimedOut", "VM '" + r.top().Name + "' did not start in the allotted time. The VM may still start successfully. Please check the power state later."})
	case run.FailedStarts <= cloud.MaxRecoveries:
		r.Ran = true
		a.st.put(r)
		a.Restart(a.machine(r))
	}
}

// resume continues after a restart of the simulator: machines that should run are powered
// on, and what had begun is finished.
func (a *Azure) resume() {
	for _, o := range a.st.operations.All() {
		if o.Status == inProgress && a.st.resources.ByID[keyOf(o.Target)] == nil {
			a.end(o, nil)
		}
	}
	for _, r := range a.st.resources.All() {
		a.resumeResource(r)
		a.auditResource(r)
	}
	if err := a.applyAll(); err != nil {
		a.Options.Log.Error("apply load balancers", "err", err)
	}
}

func (a *Azure) resumeResource(r *record) {
	var pending *operation
	for _, o := range a.st.operations.All() {
		if o.Status == inProgress && keyOf(o.Target) == keyOf(r.top().ID) {
			pending = o
		}
	}
	if pending == nil {
		pending = &operation{ID: newUUID(), Target: r.top().ID}
	}
	isVM := r.top().Type == vmKind
	switch {
	case *r.state() == deleting && isVM:
		a.removeVM(r, pending)
	case *r.state() == deleting:
		a.Later(0, func() {
			a.drop(a.kinds[keyOf(r.top().Type)], r)
			a.end(pending, nil)
		})
	case isVM && *r.state() == creating:
		a.Later(0, func() { finishVM(a, r, pending) })
	case *r.state() == creating || *r.state() == updating:
		a.settle(r)
		a.end(pending, nil)
	}
	if isVM && r.Power == powerRunning && *r.state() != deleting {
		if err := a.powerOn(r); err != nil {
			a.Options.Log.Error("power on a virtual machine", "machine", r.top().Name, "err", err)
		}
	}
}
