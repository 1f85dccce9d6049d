// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package baseline reconciles MachineRequests in the simplest way: one worker, which looks
// at each machine every ten seconds, for ever. Benchmarks run it beside this project's own
// controller, over the same drivers, to show what that is worth. It deletes nothing.
package baseline

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/session"
	"github.com/butlerdotdev/butler/provider"
)

const (
	period    = 10 * time.Second
	workers   = 1
	finalizer = "butler.butlerlabs.dev/baseline"
)

// reconciler asks the platform once for each pass, and writes what it says.
type reconciler struct {
	client   client.Client
	sessions *session.Sessions
}

// Register adds the reconciler to a manager; the sessions must be in it already.
func Register(m manager.Manager, s *session.Sessions) error {
	r := &reconciler{client: m.GetClient(), sessions: s}
	return builder.ControllerManagedBy(m).Named("baseline").
		For(&v1alpha1.MachineRequest{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(reconcile.AsReconciler(m.GetClient(), r))
}

// Reconcile implements reconcile.ObjectReconciler.
func (r *reconciler) Reconcile(ctx context.Context, q *v1alpha1.MachineRequest) (reconcile.Result, error) {
	if controllerutil.AddFinalizer(q, finalizer) {
		if err := r.client.Update(ctx, q); err != nil {
			return reconcile.Result{}, err
		}
	}
	p, err := r.platform(ctx, q)
	if err != nil {
		return reconcile.Result{}, err
	}
	m, err := p.Machines.Observe(ctx, ref(q))
	if err == nil && (m.State == provider.StateAbsent || m.State == provider.StatePartial) {
		m, err = create(ctx, p, q)
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: period}, r.report(ctx, q, m)
}

func (r *reconciler) platform(ctx context.Context, q *v1alpha1.MachineRequest) (*provider.Platform, error) {
	config := &v1alpha1.ProviderConfig{}
	key := types.NamespacedName{Namespace: q.Namespace, Name: q.Spec.ProviderRef.Name}
	if err := r.client.Get(ctx, key, config); err != nil {
		return nil, err
	}
	return r.sessions.Platform(ctx, config)
}

func ref(q *v1alpha1.MachineRequest) provider.MachineRef {
	return provider.MachineRef{Name: q.Spec.MachineName, Owner: provider.Owner{ID: string(q.UID)}, ID: q.Status.ProviderID}
}

func create(ctx context.Context, p *provider.Platform, q *v1alpha1.MachineRequest) (m provider.Machine, err error) {
	s := provider.MachineSpec{
		MachineRef: ref(q), Role: q.Spec.Role, CPU: q.Spec.CPU, MemoryMB: q.Spec.MemoryMB, DiskGB: q.Spec.DiskGB,
		Image: q.Spec.Image, TalosVersion: q.Spec.TalosVersion, Schematic: q.Spec.Schematic,
	}
	if p.Plan != nil {
		if s.Attempt, err = p.Plan(ctx, s, provider.Attempt{}); err != nil {
			return m, err
		}
	}
	return p.Machines.Create(ctx, s)
}

// report writes the status if it has changed.
func (r *reconciler) report(ctx context.Context, q *v1alpha1.MachineRequest, m provider.Machine) error {
	now := v1alpha1.MachineRequestStatus{Phase: v1alpha1.MachineCreating, ProviderID: m.ID}
	if m.State == provider.StateRunning {
		now.Phase, now.IPAddress = v1alpha1.MachineRunning, m.Addresses[0].String()
	}
	if q.Status.Phase == now.Phase && q.Status.ProviderID == now.ProviderID {
		return nil
	}
	q.Status = now
	return r.client.Status().Update(ctx, q)
}
