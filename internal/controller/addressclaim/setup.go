// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addressclaim

import (
	"context"

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
	"github.com/butlerdotdev/butler/internal/ipam"
)

// queue has the claims to look at.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Register adds the reconciler to a manager.
func Register(m manager.Manager, r *Reconciler) error {
	return builder.ControllerManagedBy(m).
		Named("addressclaim").
		For(&v1alpha1.AddressClaim{}).
		Watches(&v1alpha1.IPAllocation{}, givenUp()).
		Watches(&v1alpha1.NetworkPool{}, handler.EnqueueRequestsFromMapFunc(r.ofPool), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesMetadata(&v1alpha1.ClusterBootstrap{}, handler.EnqueueRequestsFromMapFunc(r.ofNamespace), builder.WithPredicates(predicate.AnnotationChangedPredicate{})).
		Complete(reconcile.AsReconciler(m.GetClient(), r))
}

// givenUp queues the addresses that an allocation no longer has.
func givenUp() handler.Funcs {
	return handler.Funcs{
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			before, ok := e.ObjectOld.(*v1alpha1.IPAllocation)
			after, also := e.ObjectNew.(*v1alpha1.IPAllocation)
			if ok && also {
				enqueue(q, before, after)
			}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) {
			if a, ok := e.Object.(*v1alpha1.IPAllocation); ok {
				enqueue(q, a, &v1alpha1.IPAllocation{})
			}
		},
	}
}

func enqueue(q queue, before, after *v1alpha1.IPAllocation) {
	for _, part := range []func(*v1alpha1.IPAllocation) (ipam.Range, bool){Planned, HandedOut} {
		had, _ := part(before)
		if has, _ := part(after); !had.First.IsValid() || had == has {
			continue
		}
		for address := range had.All() {
			if !Has(after, address) {
				q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: v1alpha1.AddressClaimName(address)}})
			}
		}
	}
}

// ofPool are the claims whose rest follows from a pool.
func (r *Reconciler) ofPool(ctx context.Context, o client.Object) []reconcile.Request {
	return r.those(ctx, func(c v1alpha1.AddressClaim) bool {
		return c.Spec.ReleasedAt != nil && c.Spec.PoolRef == v1alpha1.NamespacedReference{Namespace: o.GetNamespace(), Name: o.GetName()}
	})
}

// ofNamespace are the claims that a fence concerns.
func (r *Reconciler) ofNamespace(ctx context.Context, o client.Object) []reconcile.Request {
	return r.those(ctx, func(c v1alpha1.AddressClaim) bool { return c.Spec.AllocationRef.Namespace == o.GetNamespace() })
}

func (r *Reconciler) those(ctx context.Context, wanted func(v1alpha1.AddressClaim) bool) (out []reconcile.Request) {
	all := &v1alpha1.AddressClaimList{}
	if err := r.Client.List(ctx, all, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	for _, c := range all.Items {
		if wanted(c) {
			out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Name: c.Name}})
		}
	}
	return out
}
