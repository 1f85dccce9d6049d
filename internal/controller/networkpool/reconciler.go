// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package networkpool reconciles NetworkPools: it says whether addresses can be allocated from a
// pool, counts them, and keeps the pool as long as some are allocated.
package networkpool

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/addressclaim"
	"github.com/butlerdotdev/butler/internal/controller/lag"
	"github.com/butlerdotdev/butler/internal/controller/metric"
)

// Reconciler looks after NetworkPools.
type Reconciler struct {
	Client   client.Client
	Live     client.Reader
	Fence    addressclaim.Fence
	Recorder events.EventRecorder
	// Metrics record the addresses; nil records none.
	Metrics *metric.Metrics

	writes lag.Writes[*v1alpha1.NetworkPool]
}

// Reconcile reconciles a NetworkPool once.
func (r *Reconciler) Reconcile(ctx context.Context, pool *v1alpha1.NetworkPool) (reconcile.Result, error) {
	if r.writes.Behind(pool) {
		return reconcile.Result{RequeueAfter: lag.Again}, nil
	}
	held, err := r.Fence.Holds(ctx, pool.Namespace)
	switch {
	case held || err != nil:
		return reconcile.Result{}, err
	case !pool.DeletionTimestamp.IsZero():
		err = r.end(ctx, pool)
	case !controllerutil.ContainsFinalizer(pool, v1alpha1.FinalizerNetworkPool):
		if err = r.patch(ctx, pool, func() { controllerutil.AddFinalizer(pool, v1alpha1.FinalizerNetworkPool) }); err == nil {
			err = r.look(ctx, pool)
		}
	default:
		err = r.look(ctx, pool)
	}
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: lag.Again}, nil
	}
	return reconcile.Result{}, client.IgnoreNotFound(err)
}

// look reports the state of a pool.
func (r *Reconciler) look(ctx context.Context, pool *v1alpha1.NetworkPool) error {
	found, err := r.read(ctx, r.Client, pool)
	if err != nil {
		return err
	}
	return r.report(ctx, pool, decide(pool, found))
}

// end lets a pool go that has no allocated address. Those that rest do so without it.
func (r *Reconciler) end(ctx context.Context, pool *v1alpha1.NetworkPool) error {
	if !controllerutil.ContainsFinalizer(pool, v1alpha1.FinalizerNetworkPool) {
		return nil
	}
	found, err := r.read(ctx, r.Live, pool)
	if err != nil {
		return err
	}
	if len(found.allocated()) > 0 {
		return r.report(ctx, pool, verdict{
			usage: found.usage(pool), reason: reasonInUse,
			message: "addresses are allocated to " + named(holders(found.allocated())) + "; the pool is deleted when these IPAllocations are",
		})
	}
	r.Metrics.ForgetPool(pool.Namespace, pool.Name)
	return r.patch(ctx, pool, func() { controllerutil.RemoveFinalizer(pool, v1alpha1.FinalizerNetworkPool) })
}

// patch writes a change of the pool, unless that was changed meanwhile.
func (r *Reconciler) patch(ctx context.Context, pool *v1alpha1.NetworkPool, change func()) error {
	before := pool.DeepCopy()
	change()
	return r.Client.Patch(ctx, pool, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}
