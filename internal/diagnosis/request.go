// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package diagnosis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

const (
	kindMachine      = "MachineRequest"
	kindLoadBalancer = "LoadBalancerRequest"
)

// atTrouble follows the request of a machine or a load balancer that has trouble.
func (w *walk) atTrouble() bool {
	said := ""
	if w.Bootstrap != nil {
		said = w.Bootstrap.Ready().Message
	}
	return w.atKind(kindMachine, said) || w.atKind(kindLoadBalancer, said) || w.lostRequest(said)
}

// atRequests explains a cluster that is Ready and has a request with trouble.
func (w *walk) atRequests() bool { return w.atKind(kindMachine, "") || w.atKind(kindLoadBalancer, "") }

// atKind follows the worst object of a kind. One that a message names comes first.
func (w *walk) atKind(kind, named string) bool {
	var found []Object
	for _, o := range w.Requests {
		if o.Kind == kind && o.troubled() {
			found = append(found, o)
		}
	}
	if len(found) == 0 {
		return false
	}
	slices.SortStableFunc(found, func(a, b Object) int { return b.weight(named) - a.weight(named) })
	worst := found[0]
	w.linkTo(worst)
	c := causeOf(worst.Ready().Reason)
	if e, found := w.lastFailure(worst); found && (c == InProgress || c == PlatformLags) && !worst.Deleting {
		return w.byReason(metav1.Condition{Reason: e.Reason, Message: e.Note})
	}
	switch {
	case c == InProgress && !worst.Deleting:
		return w.atControllers() || w.end(c, "nothing reports an error; it is in progress: "+worst.Ready().Message, Remedy{"watch it", w.Commands.Status + " --watch"})
	case worst.Deleting && (c == "VMDeleting" || c == InProgress):
		return w.end(DeletionPending, fmt.Sprintf("%s was to be deleted, and the platform still has it", worst.Name), remedy(DeletionPending, ""))
	case c == MachineLost && worst.Address == "":
		return w.end(MachineGone, worst.Ready().Message, remedy(MachineGone, ""))
	case c == MachineLost:
		return w.end(c, worst.Ready().Message, w.replacement(worst))
	case c == noAddress:
		return w.endUnless(w.Time.Sub(worst.changed()) < patience, c, worst.Ready().Message, remedy(c, ""))
	}
	return w.byReason(worst.Ready())
}

// noAddress is the reason of a machine that runs and has no address, as each one at first.
const noAddress Cause = "NoAddress"

// recent is how long a failed attempt explains what follows it.
const recent = 5 * time.Minute

// lastFailure returns the last warning about an object: between two attempts its condition
// only says that it waits.
func (w *walk) lastFailure(o Object) (found Event, is bool) {
	for _, e := range w.Events {
		if e.Object == o.ID() && w.Time.Sub(e.Time.Time) < recent && causeOf(e.Reason) != PlatformLags && e.Reason != "PlatformConnecting" {
			found, is = e, true
		}
	}
	return found, is
}

// troubled reports whether an object is not as it should be. One without a condition is new.
func (o Object) troubled() bool { return o.Deleting || o.Ready().Type != "" && !o.isReady() }

// weight ranks objects: a failure that stays before one that passes, and a cause before
// what only takes its time.
func (o Object) weight(named string) (n int) {
	if o.Phase == string(v1alpha1.MachineFailed) {
		n += 8
	}
	if causeOf(o.Ready().Reason) != InProgress {
		n += 4
	}
	if named != "" && strings.Contains(named, o.Name) {
		n += 2
	}
	return n
}

// lostRequest explains a machine whose request was deleted.
func (w *walk) lostRequest(said string) bool {
	for _, m := range w.Machines {
		known := slices.ContainsFunc(w.Requests, func(o Object) bool { return o.Kind == kindMachine && o.Name == m.Name })
		if known || !strings.Contains(said, "MachineRequest "+m.Name+" was deleted") {
			continue
		}
		w.link(Link{Object: kindMachine + "/" + m.Name, State: "deleted"})
		return w.end("MachineRequestDeleted", "the MachineRequest of "+m.Name+" was deleted, and with it its machine", w.replacement(Object{Name: m.Name}))
	}
	return false
}

// replacement is what to do about a machine that is gone.
func (w *walk) replacement(o Object) Remedy {
	i := slices.IndexFunc(w.Machines, func(m v1alpha1.BootstrapMachineStatus) bool { return m.Name == o.Name })
	if i >= 0 && w.Machines[i].Role == v1alpha1.RoleWorker {
		return Remedy{Do: "start it on the platform if it is only off; else set spec.remediation: ReplaceWorkers in the manifest and apply it", Command: w.Commands.Bootstrap}
	}
	return Remedy{Do: "start it on the platform if it is only off; a control plane that is lost is not replaced automatically, see docs/concepts/machine-phases.md"}
}
