// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package networkpool

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Register adds the reconciler to a manager; name is that of the controller in events.
func Register(m manager.Manager, name string) error {
	r := &Reconciler{Client: m.GetClient(), Live: m.GetAPIReader(), Recorder: m.GetEventRecorder(name)}
	changed := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	return builder.ControllerManagedBy(m).
		Named("networkpool").
		For(&v1alpha1.NetworkPool{}).
		Watches(&v1alpha1.AddressClaim{}, handler.EnqueueRequestsFromMapFunc(ofClaim)).
		Watches(&v1alpha1.NetworkPool{}, handler.EnqueueRequestsFromMapFunc(r.all), changed).
		Watches(&v1alpha1.ProviderConfig{}, handler.EnqueueRequestsFromMapFunc(r.all), changed).
		Complete(reconcile.AsReconciler(m.GetClient(), r))
}

func ofClaim(_ context.Context, o client.Object) []reconcile.Request {
	c, ok := o.(*v1alpha1.AddressClaim)
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: c.Namespace, Name: c.Spec.PoolRef.Name}}}
}

// all are the pools of a namespace: a change of one may end the overlap with another.
func (r *Reconciler) all(ctx context.Context, o client.Object) (out []reconcile.Request) {
	pools := &v1alpha1.NetworkPoolList{}
	if err := r.Client.List(ctx, pools, client.InNamespace(o.GetNamespace())); err != nil {
		return nil
	}
	for _, p := range pools.Items {
		out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: p.Namespace, Name: p.Name}})
	}
	return out
}
