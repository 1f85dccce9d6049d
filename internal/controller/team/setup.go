// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package team

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

// Register adds the reconciler to a manager.
func Register(m manager.Manager) error {
	r := &Reconciler{Client: m.GetClient(), Live: m.GetAPIReader()}
	changed := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	return builder.ControllerManagedBy(m).
		Named("team").
		For(&v1alpha1.Team{}). // reservations are written by others
		Watches(&v1alpha1.TenantCluster{}, handler.EnqueueRequestsFromMapFunc(ofCluster), changed).
		Watches(&v1alpha1.ButlerConfig{}, handler.EnqueueRequestsFromMapFunc(r.all), changed).
		Complete(reconcile.AsReconciler(m.GetClient(), r))
}

// ofCluster maps a TenantCluster to the team of its namespace, whether or not it names one.
func ofCluster(_ context.Context, o client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: o.GetNamespace()}}}
}

func (r *Reconciler) all(ctx context.Context, _ client.Object) (out []reconcile.Request) {
	var teams v1alpha1.TeamList
	if err := r.Client.List(ctx, &teams); err != nil {
		return nil
	}
	for _, t := range teams.Items {
		out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Name: t.Name}})
	}
	return out
}
