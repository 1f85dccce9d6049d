// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package machinerequest reconciles MachineRequests of one provider. It is the
// same for every platform: the driver observes, creates and deletes; what that
// means for a request is decided here.
package machinerequest

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/internal/controller/session"
	"github.com/butlerdotdev/butler/provider"
)

// Reconciler brings machines in line with the MachineRequests of one provider.
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
	request  *v1alpha1.MachineRequest
	note     *request.Note
	claim    *request.Claim
	platform *provider.Platform
	facts    facts
	created  bool
}

// Reconcile makes one pass. Trouble of the platform is a matter of the status;
// the error is for trouble with the cluster that holds the request.
func (r *Reconciler) Reconcile(ctx context.Context, m *v1alpha1.MachineRequest) (reconcile.Result, error) {
	config, err := request.Config(ctx, r.Client, m.ProviderConfig())
	if err != nil {
		return reconcile.Result{}, err
	}
	p := r.pass(m)
	if !request.Concerns(r.Type, config, p.claim) {
		return reconcile.Result{}, nil
	}
	if fenced, err := r.Fence.Holds(ctx, m); err != nil || fenced {
		r.memory.Forget(m.UID) // what was seen before the fence says nothing after it
		return reconcile.Result{}, err
	}
	if !r.turns.Begin(m.ProviderConfig(), client.ObjectKeyFromObject(m), p.claim.Held()) {
		return request.Parked(), nil
	}
	began := time.Now()
	defer func() { r.turns.End(m.ProviderConfig(), time.Since(began), p.facts.err) }()
	p.note = r.memory.Of(m.UID)
	p.claim.Note = p.note
	if !p.note.Begin(m.ResourceVersion) {
		return request.Behind(), nil
	}
	return p.run(ctx, config)
}

func (r *Reconciler) pass(m *v1alpha1.MachineRequest) *pass {
	return &pass{Reconciler: r, request: m, claim: &request.Claim{
		Client: r.Client, Object: m, Finalizer: v1alpha1.FinalizerMachineRequest(r.Type), Known: m.Status.ProviderID != "",
		What: fmt.Sprintf("machine %q", m.Spec.MachineName), Now: r.clock,
		Sharing: request.Sharing(r.Client, func() client.ObjectList { return &v1alpha1.MachineRequestList{} }, r.byOwner()),
	}}
}

func (p *pass) run(ctx context.Context, config *v1alpha1.ProviderConfig) (reconcile.Result, error) {
	p.facts.deleting = !p.request.DeletionTimestamp.IsZero()
	if err := p.gather(ctx, config); err != nil {
		return request.Outdated(err)
	}
	d := decide(p.facts)
	if d.act == create {
		if err := p.create(ctx); err != nil {
			return request.Outdated(err)
		}
		d = decide(p.facts)
	}
	if err := p.report(ctx, d); err != nil {
		return request.Outdated(err)
	}
	if d.act == release {
		return request.Outdated(p.release(ctx))
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
	if p.facts.deleting && p.claim.NeverServed(p.request.Status.ProviderID) {
		p.remember(provider.Machine{Ref: p.ref(), State: provider.StateAbsent}, nil)
		return nil
	}
	minted := false
	platform, err := p.claim.Connect(ctx, p.Sessions, config, p.request.ProviderConfig())
	if err == nil {
		p.platform = platform
		if minted, p.facts.fresh, err = p.take(ctx); err != nil && !request.OfPlatform(err) {
			return err
		}
	}
	m := provider.Machine{Ref: p.ref(), State: provider.StateAbsent}
	if err == nil && !minted {
		if m, err = p.see(ctx, config); err != nil && !request.OfPlatform(err) {
			return err
		}
	}
	p.remember(m, err)
	return nil
}

// take claims the request. A machine that another program created for it is tagged
// first, if the request names it.
func (p *pass) take(ctx context.Context) (minted, fresh bool, err error) {
	id := p.request.Status.ProviderID
	if err := p.claim.BeginAdoption(ctx, p.request.Spec.MachineName, id); err != nil {
		return false, false, err
	}
	if minted, fresh, err = p.claim.Take(ctx); err != nil || minted {
		return minted, fresh, err
	}
	return minted, fresh, p.claim.Adopt(ctx, p.platform, p.ref(), id)
}

// remember completes the facts with what the platform has just answered.
func (p *pass) remember(m provider.Machine, err error) {
	now, status := p.clock(), p.request.Status
	p.note.Saw(m.ID != "", err, now)
	attempt := request.Attempted(p.request)
	p.facts.phase = status.Phase
	p.facts.known = status.ProviderID != ""
	p.facts.ran = status.IPAddress != ""
	p.facts.attempted = !attempt.IsZero()
	p.facts.machine, p.facts.err = m, err
	p.facts.failing = p.note.FailingFor(now)
	if p.platform != nil {
		p.facts.settled = p.note.Settled(attempt, p.window(), now) && (!p.facts.deleting || request.Landed(p.request, now))
	}
}

// window is how long Absent may be wrong. For a machine that has run no Create
// can be on its way any more.
func (p *pass) window() request.Window {
	if p.facts.deleting && !p.facts.ran {
		return p.note.Window(p.platform.Settle, p.facts.known)
	}
	return request.Settling(p.platform.Settle)
}

func (p *pass) outlook(d decision) request.Outlook {
	o := request.Outlook{
		Pace: d.pace, Deleting: p.facts.deleting, Err: p.facts.err,
		Push: p.platform != nil && p.platform.Changes != nil,
	}
	if p.facts.deleting && p.facts.machine.ID == "" {
		o.Push = false // nothing is pushed for the parts that are left without a machine
	}
	if d.pace == request.Steady && d.ready != metav1.ConditionTrue {
		o.Push = false // not everything that could mend it is pushed
	}
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
