// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package machinerequest reconciles MachineRequests of one provider. It is the
// same for every platform: the driver observes, creates and deletes; what that
// means for a request is decided here.
package machinerequest

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/session"
	"github.com/butlerdotdev/butler/provider"
)

// cacheLag is how soon to look again when the cache has not caught up with what
// this reconciler itself wrote.
const cacheLag = 25 * time.Millisecond

// Reconciler brings machines in line with the MachineRequests of one provider.
type Reconciler struct {
	Client   client.Client
	Type     v1alpha1.ProviderType
	Sessions *session.Sessions
	Events   events.EventRecorder

	memory memory
	now    func() time.Time
}

// pass is one walk over one request.
type pass struct {
	*Reconciler
	request  *v1alpha1.MachineRequest
	note     *note
	config   string // the ProviderConfig's name, for messages
	platform *provider.Platform
	facts    facts
	created  bool
}

// Reconcile makes one pass. Trouble of the platform is a matter of the status;
// the error is for trouble with the cluster that holds the request.
func (r *Reconciler) Reconcile(ctx context.Context, request *v1alpha1.MachineRequest) (reconcile.Result, error) {
	config, err := r.config(ctx, request)
	if err != nil || config == nil && !r.claimed(request) {
		return reconcile.Result{}, err
	}
	if config != nil && config.Spec.Provider != r.Type {
		return reconcile.Result{}, nil
	}
	deleting := !request.DeletionTimestamp.IsZero()
	if deleting && !r.claimed(request) {
		return reconcile.Result{}, nil
	}
	n := r.memory.of(request.UID)
	if n.behind(request.ResourceVersion) {
		return reconcile.Result{RequeueAfter: cacheLag}, nil
	}
	n.superseded = nil
	p := &pass{Reconciler: r, request: request, note: n, config: request.Spec.ProviderRef.Name}
	return p.run(ctx, config)
}

func (p *pass) run(ctx context.Context, config *v1alpha1.ProviderConfig) (reconcile.Result, error) {
	p.facts.deleting = !p.request.DeletionTimestamp.IsZero()
	if err := p.gather(ctx, config); err != nil {
		return outdated(err)
	}
	d := decide(p.facts)
	if d.act == create || d.act == remove {
		if err := p.act(ctx, d.act); err != nil {
			return outdated(err)
		}
		d = decide(p.facts)
	}
	if err := p.report(ctx, d); err != nil {
		return outdated(err)
	}
	if d.act == release {
		return outdated(p.release(ctx))
	}
	push := p.platform != nil && p.platform.Changes != nil
	return reconcile.Result{RequeueAfter: p.note.next(p.facts, d, push, p.clock())}, nil
}

// gather collects the facts. Connecting comes before the finalizer: a request
// that never reached its platform can be deleted without it.
func (p *pass) gather(ctx context.Context, config *v1alpha1.ProviderConfig) error {
	minted := false
	platform, err := p.connect(ctx, config)
	if err == nil {
		p.platform = platform
		if minted, err = p.claim(ctx); err != nil && !isProviderError(err) {
			return err
		}
	}
	m := provider.Machine{Ref: p.ref(), State: provider.StateAbsent}
	if err == nil && !minted {
		m, err = p.observe(ctx)
	}
	p.remember(m, err)
	return nil
}

// remember completes the facts with what the platform has just answered.
func (p *pass) remember(m provider.Machine, err error) {
	now, status := p.clock(), p.request.Status
	p.note.saw(m, err, now)
	at := attempt(p.request)
	p.facts.phase = status.Phase
	p.facts.known = status.ProviderID != ""
	p.facts.ran = status.IPAddress != ""
	p.facts.attempted = !at.IsZero()
	p.facts.machine, p.facts.err = m, err
	p.facts.failing = p.note.failingFor(now)
	if p.platform != nil {
		p.facts.settled = p.note.settled(at, p.platform.Settle, now)
	}
}

func (p *pass) release(ctx context.Context) error {
	return p.patch(ctx, func() { controllerutil.RemoveFinalizer(p.request, p.finalizer()) })
}

func (r *Reconciler) clock() time.Time {
	if r.now != nil {
		return r.now()
	}
	return time.Now()
}

// outdated turns the refusal of a write on an outdated request into another pass;
// a request that is gone needs none.
func outdated(err error) (reconcile.Result, error) {
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: cacheLag}, nil
	}
	return reconcile.Result{}, client.IgnoreNotFound(err)
}
