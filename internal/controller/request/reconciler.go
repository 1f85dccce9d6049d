// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/metric"
	"github.com/butlerdotdev/butler/internal/controller/session"
)

// Reconciler brings a platform in line with the requests of one kind and one
// provider.
type Reconciler[O Object, P ~string, S any] struct {
	Kind     Kind[O, P, S]
	Client   client.Client
	Type     v1alpha1.ProviderType
	Sessions *session.Sessions
	Events   events.EventRecorder
	Fence    Fence
	// Clock returns the time; nil is the machine's own.
	Clock func() time.Time
	// Metrics record retries; nil records none.
	Metrics *metric.Metrics

	turns  *Turns
	memory Memory
	// admission is held while a request is counted against a limit.
	admission sync.Mutex
}

// Reconcile reconciles a request once. A failure of the platform is reported in the status; the
// error is a failure of the API server that holds the request.
func (r *Reconciler[O, P, S]) Reconcile(ctx context.Context, o O) (reconcile.Result, error) {
	config, err := Config(ctx, r.Client, o.ProviderConfig())
	if err != nil {
		return reconcile.Result{}, err
	}
	p := r.newPass(o)
	if !Concerns(r.Type, config, p.Claim) {
		return reconcile.Result{}, nil
	}
	if fenced, err := r.Fence.Holds(ctx, o); err != nil || fenced {
		r.memory.Forget(o.GetUID()) // what was seen before the fence says nothing after it
		return reconcile.Result{}, err
	}
	if !r.turns.Begin(o.ProviderConfig(), client.ObjectKeyFromObject(o), p.Claim.Held()) {
		return Parked(), nil
	}
	began := time.Now()
	defer func() {
		r.turns.End(o.ProviderConfig(), time.Since(began), p.Facts.Err)
		r.Metrics.Retried(o, r.Type, p.Facts.Err)
	}()
	p.note = r.memory.Of(o.GetUID())
	p.Claim.Note = p.note
	if !p.note.Begin(o.GetResourceVersion()) {
		return Behind(), nil
	}
	return p.run(ctx, config)
}

func (r *Reconciler[O, P, S]) newPass(o O) *Pass[O, P, S] {
	subject := r.Kind.Subject(o)
	return &Pass[O, P, S]{r: r, Request: o, Subject: subject, Claim: &Claim{
		Client: r.Client, Object: o, Finalizer: r.Kind.Finalizer(r.Type), Known: subject.ID != "",
		What: subject.What, Now: r.now, Sharing: Sharing(r.Client, r.Kind.NewList, r.byOwner()),
	}}
}

func (r *Reconciler[O, P, S]) now() time.Time { return Options{Clock: r.Clock}.Now() }
