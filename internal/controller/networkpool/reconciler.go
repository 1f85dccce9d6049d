// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package networkpool reconciles NetworkPools: it counts what is allocated, ends the rest of
// released addresses, and keeps a pool as long as addresses of it are allocated.
package networkpool

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

const (
	// cacheLag is how soon to look again when the cache has not caught up with what this
	// reconciler itself wrote.
	cacheLag = 25 * time.Millisecond
	// reuseAfter is how long an address rests where the pool does not say so.
	reuseAfter = 10 * time.Minute
)

// Reconciler looks after NetworkPools.
type Reconciler struct {
	Client   client.Client
	Live     client.Reader
	Recorder events.EventRecorder
	// Clock is the time; nil: the present one.
	Clock func() time.Time
}

func (r *Reconciler) now() time.Time {
	if r.Clock != nil {
		return r.Clock()
	}
	return time.Now()
}

// Reconcile makes one pass over a NetworkPool.
func (r *Reconciler) Reconcile(ctx context.Context, pool *v1alpha1.NetworkPool) (result reconcile.Result, err error) {
	switch {
	case !pool.DeletionTimestamp.IsZero():
		err = r.end(ctx, pool)
	case controllerutil.AddFinalizer(pool, v1alpha1.FinalizerNetworkPool):
		err = r.Client.Update(ctx, pool)
	default:
		result.RequeueAfter, err = r.look(ctx, pool)
	}
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: cacheLag}, nil
	}
	return result, client.IgnoreNotFound(err)
}

// look ends the rest of addresses and reports the state. It returns when the next address
// has rested.
func (r *Reconciler) look(ctx context.Context, pool *v1alpha1.NetworkPool) (time.Duration, error) {
	found, err := r.read(ctx, r.Client, pool)
	if err != nil {
		return 0, err
	}
	rested, next := r.rested(pool, found.resting())
	for _, c := range rested {
		if err := r.remove(ctx, c); err != nil {
			return 0, err
		}
	}
	found.without(rested)
	return next, r.report(ctx, pool, decide(pool, found))
}

// rested are the claims that have rested long enough, and when the next one has.
func (r *Reconciler) rested(pool *v1alpha1.NetworkPool, resting []v1alpha1.AddressClaim) (out []v1alpha1.AddressClaim, next time.Duration) {
	rest := reuseAfter
	if pool.Spec.ReuseAfter != nil {
		rest = pool.Spec.ReuseAfter.Duration
	}
	for _, c := range resting {
		left := c.Spec.ReleasedAt.Add(rest).Sub(r.now())
		switch {
		case left <= 0:
			out = append(out, c)
		case next == 0 || left < next:
			next = left
		}
	}
	return out, next
}

// remove deletes the claim of a released address.
func (r *Reconciler) remove(ctx context.Context, c v1alpha1.AddressClaim) error {
	return client.IgnoreNotFound(r.Client.Delete(ctx, &c, client.Preconditions{UID: &c.UID, ResourceVersion: &c.ResourceVersion}))
}

// end lets a pool go that has no allocated address; those that rest are not waited for.
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
	for _, c := range found.resting() {
		if err := r.remove(ctx, c); err != nil {
			return err
		}
	}
	controllerutil.RemoveFinalizer(pool, v1alpha1.FinalizerNetworkPool)
	return r.Client.Update(ctx, pool)
}
