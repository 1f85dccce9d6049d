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
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// cacheLag is how soon to look again when the cache has not caught up with what this
// reconciler itself wrote.
const cacheLag = 25 * time.Millisecond

// Reconciler allocates and releases addresses.
type Reconciler struct {
	Client   client.Client
	Live     client.Reader
	Recorder events.EventRecorder
	// Name of the controller, for status.allocatedBy.
	Name string
	// Clock is the time; nil: the present one.
	Clock func() time.Time
}

func (r *Reconciler) now() time.Time {
	if r.Clock != nil {
		return r.Clock()
	}
	return time.Now()
}

// Reconcile makes one pass over an IPAllocation.
func (r *Reconciler) Reconcile(ctx context.Context, a *v1alpha1.IPAllocation) (reconcile.Result, error) {
	var v verdict
	var err error
	switch {
	case !a.DeletionTimestamp.IsZero():
		v, err = r.release(ctx, a)
	case controllerutil.AddFinalizer(a, v1alpha1.FinalizerIPAllocation):
		err = r.Client.Update(ctx, a)
	default:
		v, err = r.allocate(ctx, a)
	}
	if err == nil && v.phase != "" {
		err = r.report(ctx, a, v)
	}
	if err == nil && v.after != nil {
		err = v.after(ctx)
	}
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: cacheLag}, nil
	}
	return reconcile.Result{RequeueAfter: v.again}, client.IgnoreNotFound(err)
}
