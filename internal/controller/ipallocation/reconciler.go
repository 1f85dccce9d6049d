// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package ipallocation reconciles IPAllocations: it claims addresses of a NetworkPool and
// releases them. An address is allocated by the creation of its AddressClaim; what is read
// before only helps to choose one.
package ipallocation

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/addressclaim"
	"github.com/butlerdotdev/butler/internal/controller/lag"
)

// lookAgain is how soon to ask again whether addresses are in use: not all that ends their
// use is watched.
const lookAgain = 30 * time.Second

// Reconciler allocates and releases addresses.
type Reconciler struct {
	Client   client.Client
	Registry addressclaim.Registry
	Fence    addressclaim.Fence
	Recorder events.EventRecorder
	// Name of the controller, for status.allocatedBy.
	Name string

	free   *free
	writes lag.Writes[*v1alpha1.IPAllocation]
}

func (r *Reconciler) now() time.Time {
	if r.Registry.Clock != nil {
		return r.Registry.Clock()
	}
	return time.Now()
}

// Reconcile reconciles an IPAllocation once.
func (r *Reconciler) Reconcile(ctx context.Context, a *v1alpha1.IPAllocation) (reconcile.Result, error) {
	if r.writes.Behind(a) {
		return reconcile.Result{RequeueAfter: lag.Again}, nil
	}
	if held, err := r.Fence.Holds(ctx, a.Namespace); held || err != nil {
		return reconcile.Result{}, err
	}
	v, err := r.act(ctx, a)
	if err == nil && v.phase != "" {
		err = r.report(ctx, a, v)
	}
	if err == nil && v.after != nil {
		err = v.after(ctx, a)
	}
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: lag.Again}, nil
	}
	return reconcile.Result{RequeueAfter: v.again}, client.IgnoreNotFound(err)
}

func (r *Reconciler) act(ctx context.Context, a *v1alpha1.IPAllocation) (verdict, error) {
	if a.DeletionTimestamp.IsZero() {
		return r.allocate(ctx, a)
	}
	return r.release(ctx, a)
}
