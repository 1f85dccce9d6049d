// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"github.com/butlerdotdev/butler/internal/sim/cloud"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// died reacts to a machine that ended by itself: a guest that has shut down stops or
// terminates its instance; a start that failed is a failed launch; otherwise the host was
// lost, and the instance is recovered on another one.
func (a *AWS) died(id string, run datacenter.Run) {
	i := a.st.instances.ByID[id]
	if i == nil || i.State != running && i.State != pending {
		return
	}
	const code, text = "Client.InstanceInitiatedShutdown", "Client.InstanceInitiatedShutdown: Instance initiated shutdown"
	switch {
	case run.Clean && i.Shutdown == "terminate":
		a.terminate(i, code, text, "")
	case run.Clean:
		i.State, i.Reason, i.ReasonText = stopped, code, text
		a.st.instances.Put(i.ID, i)
	case run.FailedStarts > 0 && !i.Ran:
		a.fail(i)
	case run.FailedStarts <= cloud.MaxRecoveries:
		i.Ran = true
		a.st.instances.Put(i.ID, i)
		a.Restart(a.machine(i))
	}
}

// resume powers the machines on that should run after a restart of the simulator, and
// finishes what had begun.
func (a *AWS) resume() {
	for _, i := range a.st.instances.All() {
		switch i.State {
		case pending:
			a.Later(0, func() { a.boot(i) })
		case running:
			if err := a.powerOn(i); err != nil {
				a.Options.Log.Error("power on an instance", "instance", i.ID, "err", err)
			}
		case stopping:
			i.State = stopped
			a.st.instances.Put(i.ID, i)
		case shuttingDown:
			a.finish(i)
		case terminated:
			a.st.instances.Remove(i.ID)
			continue
		}
		a.auditInstance(i)
	}
	a.auditAll()
	a.resumeBalancers()
}
