// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider"
)

// action is what the platform is to be asked for.
type action int

const (
	none action = iota
	create
	release // nothing is left: let the request go
)

// facts is all that a decision is made from.
type facts struct {
	deleting  bool
	taken     string // why the request may not act under its owner id
	held      string // why nothing is deleted for a request that is being deleted
	phase     v1alpha1.MachinePhase
	known     bool // the platform has shown this machine
	ran       bool // the machine has had an address
	attempted bool // a Create may have been sent
	fresh     bool // the first attempt was recorded in this very pass
	settled   bool // Absent has been seen for as long as the platform may be late
	asked     action
	machine   provider.Machine
	err       error
	failing   time.Duration // how long the platform could not be asked
}

// decision is what to do, and what the status is to say.
type decision struct {
	act     action
	keep    bool // the status stays as it is
	phase   v1alpha1.MachinePhase
	ready   metav1.ConditionStatus
	reason  string
	message string
	pace    request.Pace
}

// decide is the whole of the state machine; docs/concepts/machine-phases.md is
// its description.
func decide(f facts) decision {
	switch {
	case f.taken != "":
		return decideTaken(f)
	case f.deleting:
		return decideDeletion(f)
	case f.err != nil:
		return decideFailure(f)
	}
	switch f.machine.State {
	case provider.StateRunning:
		return decideRunning(f)
	case provider.StatePending:
		return decidePending(f)
	case provider.StateStopped:
		return decideStopped(f)
	case provider.StateBroken:
		return failed(reasonBroken, "the platform reports: "+f.machine.Message, request.Steady)
	case provider.StateDeleting:
		return waiting(f, reasonDeleting, "Virtual machine is being deleted on the platform, but not by this request")
	case provider.StatePartial:
		return decidePartial(f)
	default:
		return decideAbsent(f)
	}
}

func decideRunning(f facts) decision {
	if len(f.machine.Addresses) == 0 {
		return decidePending(f)
	}
	return decision{
		phase: v1alpha1.MachineRunning, ready: metav1.ConditionTrue,
		reason: reasonRunning, message: "Virtual machine is running", pace: request.Steady,
	}
}

func decidePending(f facts) decision {
	if f.ran {
		// It is restarting or was stopped; its address still belongs to it.
		return decision{
			phase: v1alpha1.MachineRunning, ready: metav1.ConditionFalse,
			reason: reasonNotRunning, message: obstacle(f, "Virtual machine is not running"), pace: request.Young,
		}
	}
	return creating(obstacle(f, "Virtual machine is starting"))
}

// decideStopped reports a machine as lost that is off and stays off: whoever waits
// for it waits in vain, unless somebody starts it.
func decideStopped(f facts) decision {
	if !f.ran {
		return failed(reasonBroken, "the platform reports: "+f.machine.Message, request.Steady)
	}
	return failed(v1alpha1.ReasonVMLost, obstacle(f, "Virtual machine is off")+
		"; the platform does not start it again: start it there, or ask for another by a new request", request.Steady)
}

func decidePartial(f facts) decision {
	switch {
	case f.known && f.machine.ID == "":
		return decideLost(f, "Virtual machine is gone, but some of its parts are left")
	case f.ran:
		// Making the part anew would give a used machine an empty disk.
		return failed(reasonIncomplete, obstacle(f, "a part of the virtual machine is missing"), request.Steady)
	case f.asked == create:
		return creating(obstacle(f, "Virtual machine is being created"))
	default:
		return decision{act: create}
	}
}

func decideAbsent(f facts) decision {
	switch {
	case f.known:
		return decideLost(f, "Virtual machine is gone")
	case f.asked == create:
		return creating("Virtual machine is being created")
	case f.fresh, f.settled, !f.attempted:
		return decision{act: create}
	default:
		return waiting(f, reasonSettling, "Virtual machine was requested; the platform does not show it yet")
	}
}

// decideLost never creates: the machine may have carried an etcd member.
func decideLost(f facts, message string) decision {
	if !f.settled {
		return decision{keep: true, pace: request.Young}
	}
	return failed(v1alpha1.ReasonVMLost, message+"; it is not made again for this request", request.Steady)
}

func decideFailure(f facts) decision {
	d := decision{
		phase: unchanged(f), ready: metav1.ConditionFalse,
		reason: provider.ReasonOf(f.err), message: f.err.Error(), pace: request.Backoff,
	}
	switch {
	case f.phase == v1alpha1.MachineRunning && f.failing < request.Patience:
		d.keep = true
	case f.phase == v1alpha1.MachineRunning, f.phase == v1alpha1.MachineUnknown:
		d.phase, d.ready = v1alpha1.MachineUnknown, metav1.ConditionUnknown
	case !request.Transient(f.err):
		return failed(d.reason, d.message, request.Slow)
	}
	return d
}

// decideTaken neither reads nor changes what the platform holds under an owner id
// of another request.
func decideTaken(f facts) decision {
	if f.deleting {
		return decision{act: release, keep: true}
	}
	return failed(request.ReasonOwnerTaken, f.taken, request.Slow)
}

func decideDeletion(f facts) decision {
	d := decision{
		phase: v1alpha1.MachineDeleting, ready: metav1.ConditionFalse,
		reason: reasonDeleting, message: "Virtual machine is being deleted", pace: request.Young,
	}
	gone := f.err == nil && f.machine.State == provider.StateAbsent && (f.settled || !f.attempted)
	switch {
	case f.held != "" && !gone:
		return decision{phase: unchanged(f), ready: metav1.ConditionFalse, reason: request.ReasonSelfHosted, message: f.held, pace: request.Slow}
	case f.err != nil:
		d.reason, d.message, d.pace = provider.ReasonOf(f.err), f.err.Error(), request.Backoff
		if !request.Transient(f.err) {
			d.pace = request.Slow
		}
	case gone:
		d.act, d.phase = release, v1alpha1.MachineDeleted
		d.reason, d.message = reasonDeleted, "Virtual machine has been deleted"
	}
	return d
}

func creating(message string) decision {
	return decision{
		phase: v1alpha1.MachineCreating, ready: metav1.ConditionFalse,
		reason: reasonCreating, message: message, pace: request.Young,
	}
}

func waiting(f facts, reason, message string) decision {
	return decision{phase: unchanged(f), ready: metav1.ConditionFalse, reason: reason, message: message, pace: request.Young}
}

func failed(reason, message string, p request.Pace) decision {
	return decision{phase: v1alpha1.MachineFailed, ready: metav1.ConditionFalse, reason: reason, message: message, pace: p}
}

func unchanged(f facts) v1alpha1.MachinePhase {
	if f.phase == "" {
		return v1alpha1.MachinePending
	}
	return f.phase
}

func obstacle(f facts, otherwise string) string {
	if f.machine.Message == "" {
		return otherwise
	}
	return f.machine.Message
}
