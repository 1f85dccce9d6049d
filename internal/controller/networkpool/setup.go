// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package networkpool

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// queue has the pools to look at.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// countAfter is how long after a claim its pool is counted: a count reads all claims, so there
// is one for all that came meanwhile.
const countAfter = 500 * time.Millisecond

// Register adds the reconciler to a manager.
func Register(m manager.Manager, r *Reconciler) error {
	r.Client = r.writes.Client(r.Client)
	changed := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	return builder.ControllerManagedBy(m).
		Named("networkpool").
		For(&v1alpha1.NetworkPool{}, changed).
		Watches(&v1alpha1.AddressClaim{}, counted()).
		Watches(&v1alpha1.NetworkPool{}, handler.EnqueueRequestsFromMapFunc(r.all), changed).
		Watches(&v1alpha1.ProviderConfig{}, handler.EnqueueRequestsFromMapFunc(r.all), changed).
		WatchesMetadata(&v1alpha1.ClusterBootstrap{}, handler.EnqueueRequestsFromMapFunc(r.all), builder.WithPredicates(predicate.AnnotationChangedPredicate{})).
		Complete(reconcile.AsReconciler(m.GetClient(), r))
}

// counted queues the pool of a claim, a moment later.
func counted() handler.Funcs {
	queued := func(o client.Object, q queue) {
		if c, ok := o.(*v1alpha1.AddressClaim); ok {
			q.AddAfter(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: c.Spec.PoolRef.Namespace, Name: c.Spec.PoolRef.Name}}, countAfter)
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { queued(e.Object, q) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) { queued(e.ObjectNew, q) },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { queued(e.Object, q) },
	}
}

// all are all pools: a change of one may end the overlap with another.
func (r *Reconciler) all(ctx context.Context, _ client.Object) (out []reconcile.Request) {
	pools := &v1alpha1.NetworkPoolList{}
	if err := r.Client.List(ctx, pools, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	for _, p := range pools.Items {
		out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: p.Namespace, Name: p.Name}})
	}
	return out
}
