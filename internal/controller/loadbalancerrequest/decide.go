// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalancerrequest

import (
	"fmt"
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
	ensure
	remove
	release // nothing is left: let the request go
)

// facts is all that a decision is made from.
type facts struct {
	deleting  bool
	taken     string // why the request may not act under its owner id
	held      string // why nothing is deleted for a request that is being deleted
	phase     v1alpha1.LoadBalancerPhase
	known     bool  // the platform has shown this load balancer
	served    bool  // it has had an endpoint
	attempted bool  // an Ensure may have been sent
	fresh     bool  // the first attempt was recorded in this very pass
	settled   bool  // Absent has been seen for as long as the platform may be late
	applied   bool  // the present spec was ensured, as far as is remembered
	targets   int32 // how many the spec names
	asked     action
	balancer  provider.LoadBalancer
	err       error
	failing   time.Duration // how long the platform could not be asked
}

// decision is what to do, and what the status is to say.
type decision struct {
	act     action
	keep    bool // the status stays as it is
	phase   v1alpha1.LoadBalancerPhase
	ready   metav1.ConditionStatus
	reason  string
	message string
	pace    request.Pace
}

// decide is the whole of the state machine.
func decide(f facts) decision {
	switch {
	case f.taken != "":
		return decideTaken(f)
	case f.deleting:
		return decideDeletion(f)
	case f.err != nil:
		return decideFailure(f)
	}
	switch f.balancer.State {
	case provider.StateRunning, provider.StatePending:
		return decidePresent(f)
	case provider.StatePartial:
		return decidePartial(f)
	case provider.StateBroken:
		return failed(reasonBroken, "the platform reports: "+f.balancer.Message, request.Steady)
	case provider.StateDeleting:
		return waiting(f, reasonDeleting, "Load balancer is being deleted on the platform, but not by this request")
	default:
		return decideAbsent(f)
	}
}

// decidePresent ensures the spec anew if it has changed, if a restart has made
// us forget whether it was ensured, or if the platform has lost a target.
func decidePresent(f facts) decision {
	complete := f.balancer.Registered == f.targets
	switch {
	case f.asked != ensure && (!f.applied || !complete):
		return decision{act: ensure}
	case f.balancer.State != provider.StateRunning || f.balancer.Endpoint == "":
		return pending(f, obstacle(f, "Load balancer is starting"))
	case !complete:
		return decision{
			phase: v1alpha1.LoadBalancerReady, ready: metav1.ConditionFalse, reason: reasonTargets,
			message: fmt.Sprintf("%d of %d targets are registered", f.balancer.Registered, f.targets), pace: request.Young,
		}
	default:
		return decision{
			phase: v1alpha1.LoadBalancerReady, ready: metav1.ConditionTrue,
			reason: reasonReady, message: "Load balancer is ready", pace: request.Steady,
		}
	}
}

func decidePartial(f facts) decision {
	switch {
	case f.known && f.balancer.ID == "":
		return decideLost(f, "Load balancer is gone, but some of its parts are left")
	case f.asked == ensure:
		return pending(f, obstacle(f, "Load balancer is being created"))
	default:
		return decision{act: ensure}
	}
}

func decideAbsent(f facts) decision {
	switch {
	case f.known:
		return decideLost(f, "Load balancer is gone")
	case f.asked == ensure:
		return pending(f, "Load balancer is being created")
	case f.fresh, f.settled, !f.attempted:
		return decision{act: ensure}
	default:
		return waiting(f, reasonSettling, "Load balancer was requested; the platform does not show it yet")
	}
}

// decideLost never makes it again: the cluster is bound to the endpoint, and a
// new load balancer would have another one.
func decideLost(f facts, message string) decision {
	if !f.settled {
		return decision{keep: true, pace: request.Young}
	}
	return failed(reasonLost, message+"; it is not made again, as its endpoint would be another: delete this request and create a new one", request.Steady)
}

func decideFailure(f facts) decision {
	d := decision{
		phase: unchanged(f), ready: metav1.ConditionFalse,
		reason: provider.ReasonOf(f.err), message: f.err.Error(), pace: request.Backoff,
	}
	up := f.phase == v1alpha1.LoadBalancerReady
	switch {
	case up && f.asked == ensure:
		// It goes on serving the targets that it has.
	case up && f.failing < request.Patience:
		d.keep = true
		return d
	case up:
		d.ready = metav1.ConditionUnknown
		return d
	case !request.Transient(f.err):
		return failed(d.reason, d.message, request.Slow)
	}
	if !request.Transient(f.err) {
		d.pace = request.Slow
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
		phase: v1alpha1.LoadBalancerDeleting, ready: metav1.ConditionFalse,
		reason: reasonDeleting, message: "Load balancer is being deleted", pace: request.Young,
	}
	gone := f.err == nil && f.balancer.State == provider.StateAbsent && (f.settled || !f.attempted)
	switch {
	case f.held != "" && !gone:
		return decision{phase: unchanged(f), ready: metav1.ConditionFalse, reason: request.ReasonSelfHosted, message: f.held, pace: request.Slow}
	case f.err != nil:
		d.reason, d.message, d.pace = provider.ReasonOf(f.err), f.err.Error(), request.Backoff
		if !request.Transient(f.err) {
			d.pace = request.Slow
		}
	case gone:
		d.act = release
	case f.balancer.State == provider.StateAbsent, f.balancer.State == provider.StateDeleting, f.asked == remove:
	default:
		d.act = remove
	}
	return d
}

// pending is a load balancer that is not ready yet, or not at present: then its
// phase stays, as the endpoint still belongs to it.
func pending(f facts, message string) decision {
	d := decision{
		phase: v1alpha1.LoadBalancerCreating, ready: metav1.ConditionFalse,
		reason: reasonCreating, message: message, pace: request.Young,
	}
	if f.served {
		d.phase, d.reason = v1alpha1.LoadBalancerReady, reasonNotReady
	}
	return d
}

func waiting(f facts, reason, message string) decision {
	return decision{phase: unchanged(f), ready: metav1.ConditionFalse, reason: reason, message: message, pace: request.Young}
}

func failed(reason, message string, p request.Pace) decision {
	return decision{phase: v1alpha1.LoadBalancerFailed, ready: metav1.ConditionFalse, reason: reason, message: message, pace: p}
}

func unchanged(f facts) v1alpha1.LoadBalancerPhase {
	if f.phase == "" {
		return v1alpha1.LoadBalancerPending
	}
	return f.phase
}

func obstacle(f facts, otherwise string) string {
	if f.balancer.Message == "" {
		return otherwise
	}
	return f.balancer.Message
}
