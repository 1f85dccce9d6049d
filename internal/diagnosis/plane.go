// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package diagnosis

import (
	"fmt"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// atSilence explains a cluster that manages itself and does not answer. What is known of it
// is as old as its pivot, but its nodes can be asked.
func (w *walk) atSilence() bool {
	if w.Plane.Silent == "" {
		return false
	}
	w.link(Link{Object: "Cluster/" + w.Cluster, State: "manages itself", Reason: "Silent", Says: w.Plane.Silent})
	if w.stoppedSimulator() {
		return true
	}
	if w.atNodes() {
		return true
	}
	return w.end(APIServerDown, "the API server of "+w.Cluster+" does not answer", remedy(APIServerDown, ""))
}

func (w *walk) stoppedSimulator() bool {
	if !w.Plane.SimulatorStopped {
		return false
	}
	w.link(Link{Object: "Simulator/" + w.Cluster, State: "stopped"})
	return w.end(SimulatorStopped, "the simulated platform of this rehearsal does not run",
		Remedy{"start it; the cluster is as it was", w.Commands.Bootstrap})
}

// atAbsence explains a plane without the cluster.
func (w *walk) atAbsence() bool {
	if w.Bootstrap != nil {
		return false
	}
	w.link(Link{Object: "Cluster/" + w.Cluster, State: "absent"})
	if w.Plane.Holder != "" {
		return w.end(InProgress, w.Plane.Holder+" is at work, and "+w.Cluster+" does not exist yet, or no more", Remedy{"watch it", w.Commands.Status + " --watch"})
	}
	return w.end(Absent, w.Cluster+" does not exist: it was never created, or it was destroyed", Remedy{"create it", w.Commands.Bootstrap})
}

// atHold explains a cluster that nothing may work on.
func (w *walk) atHold() bool {
	switch {
	case w.Plane.Fenced != "":
		w.linkTo(*w.Bootstrap)
		return w.end(Fenced, "no plane is in charge: that of the cluster was "+w.Plane.Fenced+", and the move was interrupted", Remedy{"run the interrupted command again", ""})
	case w.Bootstrap.Paused:
		w.linkTo(*w.Bootstrap)
		return w.end(Paused, "spec.paused of the ClusterBootstrap is true", Remedy{"remove paused from the manifest and apply it", w.Commands.Bootstrap})
	case w.Plane.Stopped:
		w.linkTo(*w.Bootstrap)
		return w.end(NotRunning, "the controllers of the cluster are stopped, as during a destroy that was interrupted",
			Remedy{"finish the destroy", w.Commands.Destroy}, Remedy{"or start them again", w.Commands.Bootstrap})
	}
	return false
}

// atControllers explains a cluster that is not Ready and that no process works on.
func (w *walk) atControllers() bool {
	if !w.idle() {
		return false
	}
	if len(w.chain.Links) == 0 {
		w.linkTo(*w.Bootstrap)
	}
	w.chain.Cause, w.chain.Summary = NotRunning, fmt.Sprintf("no command works on %s: the bootstrap ended before it was %s", w.Cluster, v1alpha1.BootstrapReady)
	w.chain.Remedies = []Remedy{{"continue it", w.Commands.Bootstrap}}
	return true
}
