// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// A walk begins a lag after a change, so that one walk sees what changes at about the same time. The lag is
	// share for each cluster that was walked within busyFor: many clusters at once change more slowly than one
	// alone, and each is walked about as often.
	share      = 10 * time.Millisecond
	longestLag = 2 * time.Second
	busyFor    = 5 * time.Second
)

// pace is how soon clusters are walked after a change. The zero value is ready.
type pace struct {
	mu     sync.Mutex
	walked map[types.NamespacedName]time.Time
}

// record notes a walk.
func (p *pace) record(cluster types.NamespacedName, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.walked == nil {
		p.walked = map[types.NamespacedName]time.Time{}
	}
	p.walked[cluster] = now
}

// lag is how long after a change a walk begins.
func (p *pace) lag(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.walked, func(_ types.NamespacedName, at time.Time) bool { return now.Sub(at) > busyFor })
	return min(time.Duration(len(p.walked))*share, longestLag)
}

type walkQueue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// later queues walks that begin after the lag.
func (r *Reconciler) later(q walkQueue, all ...reconcile.Request) {
	lag := r.pace.lag(r.Clock())
	for _, each := range all {
		q.AddAfter(each, lag)
	}
}

// collect queues, after the lag, walks of the clusters that changed objects concern.
func (r *Reconciler) collect(concerned handler.MapFunc) handler.EventHandler {
	queue := func(ctx context.Context, o client.Object, q walkQueue) { r.later(q, concerned(ctx, o)...) }
	return handler.Funcs{
		CreateFunc:  func(ctx context.Context, e event.CreateEvent, q walkQueue) { queue(ctx, e.Object, q) },
		UpdateFunc:  func(ctx context.Context, e event.UpdateEvent, q walkQueue) { queue(ctx, e.ObjectNew, q) },
		DeleteFunc:  func(ctx context.Context, e event.DeleteEvent, q walkQueue) { queue(ctx, e.Object, q) },
		GenericFunc: func(ctx context.Context, e event.GenericEvent, q walkQueue) { queue(ctx, e.Object, q) },
	}
}

// wakeHandler queues, after the lag, walks of clusters that are named.
func (r *Reconciler) wakeHandler() handler.TypedFuncs[types.NamespacedName, reconcile.Request] {
	return handler.TypedFuncs[types.NamespacedName, reconcile.Request]{
		GenericFunc: func(_ context.Context, e wakeEvent, q walkQueue) {
			r.later(q, reconcile.Request{NamespacedName: e.Object})
		},
	}
}
