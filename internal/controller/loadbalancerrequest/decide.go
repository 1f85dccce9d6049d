// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalancerrequest

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider"
)

// facts are those of all requests, and how many targets the spec names.
type facts struct {
	common
	targets int32
}

// decide is the whole of the state machine.
func decide(f facts) decision {
	switch {
	case f.Taken != "":
		return request.DecideTaken(f.common)
	case f.Deleting:
		return decideDeletion(f)
	case f.Err != nil:
		return decideFailure(f)
	}
	switch f.Seen.State {
	case provider.StateRunning, provider.StatePending:
		return decidePresent(f)
	case provider.StatePartial:
		return decidePartial(f)
	case provider.StateBroken:
		return f.Failed(reasonBroken, "the platform reports: "+f.Seen.Message, request.Steady)
	case provider.StateDeleting:
		return f.Waiting(reasonDeleting, "Load balancer is being deleted on the platform, but not by this request")
	default:
		return decideAbsent(f)
	}
}

// decidePresent ensures the spec again if it has changed, if a restart has made
// us forget whether it was ensured, or if the platform has lost a target.
func decidePresent(f facts) decision {
	complete := f.Seen.Registered == f.targets
	switch {
	case f.Asked != request.Create && (!f.Applied || !complete):
		return decision{Act: request.Create}
	case f.Seen.State != provider.StateRunning || f.Seen.Endpoint == "":
		return pending(f, obstacle(f, "Load balancer is starting"))
	case !complete:
		return decision{
			Phase: v1alpha1.LoadBalancerReady, Ready: metav1.ConditionFalse, Reason: reasonTargets,
			Message: fmt.Sprintf("%d of %d targets are registered", f.Seen.Registered, f.targets), Pace: request.Young,
		}
	default:
		return decision{
			Phase: v1alpha1.LoadBalancerReady, Ready: metav1.ConditionTrue,
			Reason: reasonReady, Message: "Load balancer is ready", Pace: request.Steady,
		}
	}
}

func decidePartial(f facts) decision {
	switch {
	case f.Known && f.Seen.ID == "":
		return decideLost(f, "Load balancer is gone, but some of its parts are left")
	case f.Asked == request.Create:
		return pending(f, obstacle(f, "Load balancer is being created"))
	default:
		return decision{Act: request.Create}
	}
}

func decideAbsent(f facts) decision {
	switch {
	case f.Known:
		return decideLost(f, "Load balancer is gone")
	case f.Asked == request.Create:
		return pending(f, "Load balancer is being created")
	case f.Fresh, f.Settled, !f.Attempted:
		return decision{Act: request.Create}
	default:
		return f.Waiting(reasonSettling, "Load balancer was requested; the platform does not show it yet")
	}
}

// decideLost never creates it again: the cluster is bound to the endpoint, and a
// new load balancer would have another one.
func decideLost(f facts, message string) decision {
	if !f.Settled {
		return decision{Keep: true, Pace: request.Young}
	}
	return f.Failed(reasonLost, message+"; it is not created again, as its endpoint would be another: delete this request and create a new one", request.Steady)
}

func decideFailure(f facts) decision {
	d := decision{
		Phase: f.Unchanged(), Ready: metav1.ConditionFalse,
		Reason: provider.ReasonOf(f.Err), Message: f.Err.Error(), Pace: request.Backoff,
	}
	up := f.Phase == v1alpha1.LoadBalancerReady
	switch {
	case up && f.Asked == request.Create:
		// It still serves the targets that it has.
	case up && f.Failing < request.Patience:
		d.Keep = true
		return d
	case up:
		d.Ready = metav1.ConditionUnknown
		return d
	case !request.Transient(f.Err):
		return f.Failed(d.Reason, d.Message, request.Slow)
	}
	if !request.Transient(f.Err) {
		d.Pace = request.Slow
	}
	return d
}

// decideDeletion deletes what is there. A request that is released keeps its status:
// there is no phase for a load balancer that is gone.
func decideDeletion(f facts) decision {
	d := decision{Phase: v1alpha1.LoadBalancerDeleting, Reason: reasonDeleting, Message: "Load balancer is being deleted"}
	if s := f.Seen.State; s != provider.StateAbsent && s != provider.StateDeleting && f.Asked != request.Delete {
		d.Act = request.Delete
	}
	d = request.DecideDeletion(f.common, f.Seen.State, d)
	d.Keep = d.Act == request.Release
	return d
}

// pending is a load balancer that is not ready yet, or not at present: then its
// phase stays, as the endpoint still belongs to it.
func pending(f facts, message string) decision {
	d := decision{
		Phase: v1alpha1.LoadBalancerCreating, Ready: metav1.ConditionFalse,
		Reason: reasonCreating, Message: message, Pace: request.Young,
	}
	if f.Served {
		d.Phase, d.Reason = v1alpha1.LoadBalancerReady, reasonNotReady
	}
	return d
}

func obstacle(f facts, otherwise string) string {
	if f.Seen.Message == "" {
		return otherwise
	}
	return f.Seen.Message
}
