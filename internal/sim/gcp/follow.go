// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"github.com/butlerdotdev/butler/internal/sim/cloud"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// died reacts to a machine that ended by itself: a guest that has shut down ends its
// instance; otherwise the host was lost, and the instance starts on another one if it is
// to restart.
func (g *GCP) died(id string, run datacenter.Run) {
	i := g.st.get(run.Spec.Ref)
	if i == nil || i.id() != id || i.state() != running {
		return
	}
	if !run.Clean && i.Object.sub("scheduling").bool("automaticRestart") && run.FailedStarts <= cloud.MaxRecoveries {
		g.Restart(g.machine(i))
		return
	}
	i.Object["status"], i.Object["lastStopTimestamp"] = terminated, stamp(g.self().now)
	g.st.put(i)
	g.auditResource(i)
}

// resume powers the machines on that should run after a restart of the simulator, and
// brings the load balancers back. Operations continue by themselves.
func (g *GCP) resume() {
	g.auditAll()
	for _, i := range g.st.all("instances") {
		if i.state() != running || i.Copy {
			continue
		}
		if err := g.powerOn(i); err != nil {
			g.Options.Log.Error("power on an instance", "instance", i.Path, "err", err)
		}
	}
	if err := g.applyAll(); err != nil {
		g.Options.Log.Error("bring load balancers in line", "err", err)
	}
}
