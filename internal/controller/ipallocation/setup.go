// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipallocation

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Register adds the reconciler to a manager. Allocations are made one after the other, so
// that those of one controller do not compete.
func Register(m manager.Manager, name string) error {
	r := &Reconciler{Client: m.GetClient(), Live: m.GetAPIReader(), Recorder: m.GetEventRecorder(name), Name: name}
	gone := builder.WithPredicates(predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false }, UpdateFunc: func(event.UpdateEvent) bool { return false },
	})
	return builder.ControllerManagedBy(m).
		Named("ipallocation").
		For(&v1alpha1.IPAllocation{}).
		Watches(&v1alpha1.NetworkPool{}, handler.EnqueueRequestsFromMapFunc(r.waiting), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.AddressClaim{}, handler.EnqueueRequestsFromMapFunc(r.waiting), gone).
		WatchesMetadata(&v1alpha1.MachineRequest{}, handler.EnqueueRequestsFromMapFunc(r.deleting), gone).
		WatchesMetadata(&v1alpha1.ClusterBootstrap{}, handler.EnqueueRequestsFromMapFunc(r.deleting), gone).
		Complete(reconcile.AsReconciler(m.GetClient(), r))
}

// waiting are the allocations that do not have what they ask for.
func (r *Reconciler) waiting(ctx context.Context, o client.Object) []reconcile.Request {
	return r.those(ctx, o.GetNamespace(), func(a v1alpha1.IPAllocation) bool {
		return a.Status.Phase != v1alpha1.IPAllocationAllocated || a.Status.AllocatedCount < a.Spec.Count
	})
}

// deleting are the allocations that wait for the end of what they are for.
func (r *Reconciler) deleting(ctx context.Context, o client.Object) []reconcile.Request {
	return r.those(ctx, o.GetNamespace(), func(a v1alpha1.IPAllocation) bool { return !a.DeletionTimestamp.IsZero() })
}

func (r *Reconciler) those(ctx context.Context, namespace string, wanted func(v1alpha1.IPAllocation) bool) (out []reconcile.Request) {
	all := &v1alpha1.IPAllocationList{}
	if err := r.Client.List(ctx, all, client.InNamespace(namespace)); err != nil {
		return nil
	}
	for _, a := range all.Items {
		if wanted(a) {
			out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: a.Namespace, Name: a.Name}})
		}
	}
	return out
}
