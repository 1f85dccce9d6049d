// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipallocation

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/addressclaim"
	"github.com/butlerdotdev/butler/internal/controller/metric"
	"github.com/butlerdotdev/butler/internal/controller/networkpool"
)

// queue has the allocations to look at.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// passesAtOnce is how many allocations are made at the same time.
const passesAtOnce = 4

// Options of Register.
type Options struct {
	// Name of the controller, in events and in status.allocatedBy.
	Name string
	// Namespace is the only one that is reconciled; empty: all of them. What is free follows
	// from the claims of all.
	Namespace string
	// Clock is the time; nil: the present one.
	Clock func() time.Time
}

// Register adds all that allocates addresses to a manager: the reconcilers of NetworkPools,
// AddressClaims and IPAllocations.
func Register(m manager.Manager, o Options) error {
	registry := addressclaim.Registry{Client: m.GetClient(), Live: m.GetAPIReader(), Clock: o.Clock}
	fence := addressclaim.Fence{Cache: m.GetClient(), Live: m.GetAPIReader()}
	recorded, err := metric.In(metrics.Registry)
	if err != nil {
		return err
	}
	pools := &networkpool.Reconciler{Client: m.GetClient(), Live: m.GetAPIReader(), Fence: fence, Recorder: m.GetEventRecorder(o.Name), Metrics: recorded}
	if err := networkpool.Register(m, pools); err != nil {
		return err
	}
	if err := addressclaim.Register(m, &addressclaim.Reconciler{Registry: registry, Fence: fence, Namespace: o.Namespace}); err != nil {
		return err
	}
	return register(m, &Reconciler{
		Client: m.GetClient(), Registry: registry, Fence: fence, Recorder: m.GetEventRecorder(o.Name), Name: o.Name, free: newFree(nil),
	})
}

func register(m manager.Manager, r *Reconciler) error {
	r.Client = r.writes.Client(r.Client)
	changed := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	return builder.ControllerManagedBy(m).
		Named("ipallocation").
		WithOptions(controller.Options{MaxConcurrentReconciles: passesAtOnce}).
		For(&v1alpha1.IPAllocation{}, changed).
		Watches(&v1alpha1.AddressClaim{}, r.claims()).
		Watches(&v1alpha1.NetworkPool{}, handler.EnqueueRequestsFromMapFunc(r.waiting), builder.WithPredicates(readyChanged())).
		Watches(&v1alpha1.ProviderConfig{}, handler.EnqueueRequestsFromMapFunc(r.waiting), changed).
		WatchesMetadata(&v1alpha1.MachineRequest{}, handler.EnqueueRequestsFromMapFunc(r.deleting), builder.WithPredicates(gone())).
		WatchesMetadata(&v1alpha1.ClusterBootstrap{}, handler.EnqueueRequestsFromMapFunc(r.all), builder.WithPredicates(predicate.AnnotationChangedPredicate{})).
		Complete(reconcile.AsReconciler(m.GetClient(), r))
}

func gone() predicate.Funcs {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false }, UpdateFunc: func(event.UpdateEvent) bool { return false },
	}
}

// readyChanged lets a pool pass that may be ready now and was not.
func readyChanged() predicate.Funcs {
	ready := func(o client.Object) (bool, int64) {
		p, ok := o.(*v1alpha1.NetworkPool)
		if !ok {
			return false, 0
		}
		return meta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.ConditionReady), p.Status.ObservedGeneration
	}
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		was, before := ready(e.ObjectOld)
		is, after := ready(e.ObjectNew)
		return was != is || before != after
	}}
}

// claims keeps what is free up to date, and queues allocations that can continue when a claim
// is gone: its own, which may have lost it, and those that wait for addresses.
func (r *Reconciler) claims() handler.Funcs {
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, _ queue) {
			if c, ok := e.Object.(*v1alpha1.AddressClaim); ok {
				r.free.add(c)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) {
			c, ok := e.Object.(*v1alpha1.AddressClaim)
			if !ok {
				return
			}
			r.free.remove(c)
			q.Add(reconcile.Request{NamespacedName: addressclaim.AllocationOf(c)})
			for _, waiting := range r.those(ctx, "", unsatisfied) {
				q.Add(waiting)
			}
		},
	}
}

// waiting are the allocations of a namespace that do not have what they ask for.
func (r *Reconciler) waiting(ctx context.Context, o client.Object) []reconcile.Request {
	return r.those(ctx, o.GetNamespace(), unsatisfied)
}

func unsatisfied(a v1alpha1.IPAllocation) bool {
	return a.Status.Phase != v1alpha1.IPAllocationAllocated || a.Status.AllocatedCount < a.Spec.Count
}

// deleting are the allocations that wait for the end of what they are for.
func (r *Reconciler) deleting(ctx context.Context, o client.Object) []reconcile.Request {
	return r.those(ctx, o.GetNamespace(), func(a v1alpha1.IPAllocation) bool { return !a.DeletionTimestamp.IsZero() })
}

// all are the allocations of a namespace, whose fence may be gone.
func (r *Reconciler) all(ctx context.Context, o client.Object) []reconcile.Request {
	return r.those(ctx, o.GetNamespace(), func(v1alpha1.IPAllocation) bool { return true })
}

func (r *Reconciler) those(ctx context.Context, namespace string, wanted func(v1alpha1.IPAllocation) bool) (out []reconcile.Request) {
	all := &v1alpha1.IPAllocationList{}
	if err := r.Client.List(ctx, all, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	for _, a := range all.Items {
		if wanted(a) {
			out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: a.Namespace, Name: a.Name}})
		}
	}
	return out
}
