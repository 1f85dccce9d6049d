// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider"
)

// decide is the whole of the state machine; docs/concepts/machine-phases.md is
// its description.
func decide(f facts) decision {
	switch {
	case f.Taken != "":
		return request.DecideTaken(f)
	case f.Deleting:
		return decideDeletion(f)
	case f.Err != nil:
		return decideFailure(f)
	}
	switch f.Seen.State {
	case provider.StateRunning:
		return decideRunning(f)
	case provider.StatePending:
		return decidePending(f)
	case provider.StateStopped:
		return decideStopped(f)
	case provider.StateBroken:
		return f.Failed(reasonBroken, "the platform reports: "+f.Seen.Message, request.Steady)
	case provider.StateDeleting:
		return f.Waiting(reasonDeleting, "Virtual machine is being deleted on the platform, but not by this request")
	case provider.StatePartial:
		return decidePartial(f)
	default:
		return decideAbsent(f)
	}
}

func decideRunning(f facts) decision {
	if len(f.Seen.Addresses) == 0 {
		return decidePending(f)
	}
	return decision{
		Phase: v1alpha1.MachineRunning, Ready: metav1.ConditionTrue,
		Reason: reasonRunning, Message: "Virtual machine is running", Pace: request.Steady,
	}
}

func decidePending(f facts) decision {
	if f.Served {
		// It is restarting or was stopped; its address still belongs to it.
		return decision{
			Phase: v1alpha1.MachineRunning, Ready: metav1.ConditionFalse,
			Reason: reasonNotRunning, Message: obstacle(f, "Virtual machine is not running"), Pace: request.Young, Identify: true,
		}
	}
	return creating(f, "Virtual machine is starting")
}

// decideStopped reports a machine as lost that is off and that the platform does not
// start again.
func decideStopped(f facts) decision {
	if !f.Served {
		return f.Failed(reasonBroken, "the platform reports: "+f.Seen.Message, request.Steady)
	}
	return f.Failed(v1alpha1.ReasonVMLost, obstacle(f, "Virtual machine is off")+
		"; the platform does not start it again: start it there, or ask for another by a new request", request.Steady)
}

func decidePartial(f facts) decision {
	switch {
	case f.Known && f.Seen.ID == "":
		return decideLost(f, "Virtual machine is gone, but some of its parts are left")
	case f.Served:
		// Creating the part again would give a used machine an empty disk.
		return f.Failed(reasonIncomplete, obstacle(f, "a part of the virtual machine is missing"), request.Steady)
	case f.Asked == request.Create:
		return creating(f, "Virtual machine is being created")
	default:
		return decision{Act: request.Create}
	}
}

func decideAbsent(f facts) decision {
	switch {
	case f.Known:
		return decideLost(f, obstacle(f, "Virtual machine is gone"))
	case f.Asked == request.Create:
		return creating(f, "Virtual machine is being created")
	case f.Fresh, f.Settled, !f.Attempted:
		return decision{Act: request.Create}
	default:
		return f.Waiting(reasonSettling, "Virtual machine was requested; the platform does not show it yet")
	}
}

// decideLost never creates: the machine may have carried an etcd member.
func decideLost(f facts, message string) decision {
	if !f.Settled {
		return decision{Keep: true, Pace: request.Young}
	}
	return f.Failed(v1alpha1.ReasonVMLost, message+"; it is not created again for this request", request.Steady)
}

func decideFailure(f facts) decision {
	d := decision{
		Phase: f.Unchanged(), Ready: metav1.ConditionFalse,
		Reason: provider.ReasonOf(f.Err), Message: f.Err.Error(), Pace: request.Backoff,
	}
	switch {
	case f.Phase == v1alpha1.MachineRunning && f.Failing < request.Patience:
		d.Keep = true
	case f.Phase == v1alpha1.MachineRunning, f.Phase == v1alpha1.MachineUnknown:
		d.Phase, d.Ready = v1alpha1.MachineUnknown, metav1.ConditionUnknown
	case !request.Transient(f.Err):
		return f.Failed(d.Reason, d.Message, request.Slow)
	}
	return d
}

func decideDeletion(f facts) decision {
	d := request.DecideDeletion(f, f.Seen.State, decision{
		Phase: v1alpha1.MachineDeleting, Reason: reasonDeleting, Message: "Virtual machine is being deleted",
	})
	if d.Act == request.Release {
		d.Phase, d.Reason, d.Message = v1alpha1.MachineDeleted, reasonDeleted, "Virtual machine has been deleted"
	}
	return d
}

func creating(f facts, otherwise string) decision {
	return decision{
		Phase: v1alpha1.MachineCreating, Ready: metav1.ConditionFalse,
		Reason: cmp.Or(f.Seen.Reason, reasonCreating), Message: obstacle(f, otherwise), Pace: request.Young,
	}
}

func obstacle(f facts, otherwise string) string {
	if f.Seen.Message == "" {
		return otherwise
	}
	return f.Seen.Message
}
