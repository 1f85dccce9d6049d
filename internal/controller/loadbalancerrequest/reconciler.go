// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package loadbalancerrequest reconciles LoadBalancerRequests of one provider. It
// is the same for every platform: the driver observes, ensures and deletes; what
// that means for a request is decided here.
package loadbalancerrequest

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/internal/controller/session"
	"github.com/butlerdotdev/butler/provider"
)

// Reconciler brings load balancers in line with the LoadBalancerRequests of one
// provider.
type Reconciler struct {
	Client   client.Client
	Type     v1alpha1.ProviderType
	Sessions *session.Sessions
	Events   events.EventRecorder
	Fence    request.Fence

	turns  *request.Turns
	memory request.Memory
	now    func() time.Time
}

// pass is one walk over one request.
type pass struct {
	*Reconciler
	request  *v1alpha1.LoadBalancerRequest
	note     *request.Note
	claim    *request.Claim
	platform *provider.Platform
	facts    facts
	created  bool
}

// Reconcile makes one pass. Trouble of the platform is a matter of the status;
// the error is for trouble with the cluster that holds the request.
func (r *Reconciler) Reconcile(ctx context.Context, l *v1alpha1.LoadBalancerRequest) (reconcile.Result, error) {
	config, err := request.Config(ctx, r.Client, l.ProviderConfig())
	if err != nil {
		return reconcile.Result{}, err
	}
	p := r.pass(l)
	if !request.Concerns(r.Type, config, p.claim) {
		return reconcile.Result{}, nil
	}
	if fenced, err := r.Fence.Holds(ctx, l); err != nil || fenced {
		r.memory.Forget(l.UID) // what was seen before the fence says nothing after it
		return reconcile.Result{}, err
	}
	if !r.turns.Begin(l.ProviderConfig(), client.ObjectKeyFromObject(l), p.claim.Held()) {
		return request.Parked(), nil
	}
	began := time.Now()
	defer func() { r.turns.End(l.ProviderConfig(), time.Since(began), p.facts.err) }()
	p.note = r.memory.Of(l.UID)
	p.claim.Note = p.note
	if !p.note.Begin(l.ResourceVersion) {
		return request.Behind(), nil
	}
	return p.run(ctx, config)
}

func (r *Reconciler) pass(l *v1alpha1.LoadBalancerRequest) *pass {
	return &pass{Reconciler: r, request: l, claim: &request.Claim{
		Client: r.Client, Object: l, Finalizer: v1alpha1.FinalizerLoadBalancerRequest(r.Type), Known: l.Status.ResourceID != "",
		What: fmt.Sprintf("load balancer %q", l.Name), Now: r.clock,
		Sharing: request.Sharing(r.Client, func() client.ObjectList { return &v1alpha1.LoadBalancerRequestList{} }, r.byOwner()),
	}}
}

func (p *pass) run(ctx context.Context, config *v1alpha1.ProviderConfig) (reconcile.Result, error) {
	p.facts.deleting = !p.request.DeletionTimestamp.IsZero()
	if err := p.gather(ctx, config); err != nil {
		return request.Outdated(err)
	}
	d := decide(p.facts)
	if d.act == ensure || d.act == remove {
		if err := p.act(ctx, d.act); err != nil {
			return request.Outdated(err)
		}
		d = decide(p.facts)
	}
	if d.act == release {
		return request.Outdated(p.release(ctx))
	}
	if err := p.report(ctx, d); err != nil {
		return request.Outdated(err)
	}
	return reconcile.Result{RequeueAfter: p.note.Next(p.outlook(d), p.clock())}, nil
}

// gather collects the facts. A request that has no right to its owner id asks its
// platform for nothing.
func (p *pass) gather(ctx context.Context, config *v1alpha1.ProviderConfig) (err error) {
	p.facts.phase = p.request.Status.Phase
	if p.facts.taken, err = p.claim.Taken(ctx); err != nil || p.facts.taken != "" {
		return err
	}
	if p.facts.deleting {
		if p.facts.held, err = p.Fence.HoldsDeletion(ctx, p.request); err != nil {
			return err
		}
	}
	return p.ask(ctx, config)
}

// ask asks the platform. Connecting comes before the finalizer: a request that
// never reached its platform can be deleted without it.
func (p *pass) ask(ctx context.Context, config *v1alpha1.ProviderConfig) error {
	minted := false
	err := p.connect(ctx, config)
	if err == nil {
		if minted, p.facts.fresh, err = p.claim.Take(ctx); err != nil && !request.OfPlatform(err) {
			return err
		}
	}
	b := provider.LoadBalancer{Ref: p.ref(), State: provider.StateAbsent}
	if err == nil && !minted {
		if b, err = p.see(ctx, config); err != nil && !request.OfPlatform(err) {
			return err
		}
	}
	p.remember(b, err)
	return nil
}

// remember completes the facts with what the platform has just answered.
func (p *pass) remember(b provider.LoadBalancer, err error) {
	now, status := p.clock(), p.request.Status
	p.note.Saw(b.ID != "", err, now)
	attempt := request.Attempted(p.request)
	p.facts.phase = status.Phase
	p.facts.known = status.ResourceID != ""
	p.facts.served = status.Endpoint != ""
	p.facts.attempted = !attempt.IsZero()
	p.facts.targets = int32(len(distinct(p.request.Spec.Targets)))
	p.facts.applied = p.note.Applied == p.request.Generation
	p.facts.balancer, p.facts.err = b, err
	p.facts.failing = p.note.FailingFor(now)
	if p.platform != nil {
		p.facts.settled = p.note.Settled(attempt, p.window(), now) && (!p.facts.deleting || request.Landed(p.request, now))
	}
}

// window is how long Absent may be wrong.
func (p *pass) window() request.Window {
	if p.facts.deleting {
		return p.note.Window(p.platform.Settle, p.facts.known)
	}
	return request.Settling(p.platform.Settle)
}

func (p *pass) outlook(d decision) request.Outlook {
	o := request.Outlook{Pace: d.pace, Deleting: p.facts.deleting, Err: p.facts.err}
	if d.keep {
		o.Within = max(request.Patience-p.facts.failing, 0)
	}
	return o
}

func (r *Reconciler) clock() time.Time {
	if r.now != nil {
		return r.now()
	}
	return time.Now()
}
