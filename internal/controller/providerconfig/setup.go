// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/internal/controller/session"
)

// workers is how many ProviderConfigs are checked at once: each may wait for a
// platform that does not answer.
const workers = 32

// Register adds the reconciler of a provider to a manager.
func Register(m manager.Manager, o request.Options) error {
	r := &Reconciler{Type: o.Type, Sessions: o.Sessions, now: o.Now}
	r.Client = r.writes.Client(m.GetClient())
	if err := r.index(m.GetFieldIndexer()); err != nil {
		return err
	}
	b := builder.ControllerManagedBy(m).
		Named("providerconfig-"+string(r.Type)).
		For(&v1alpha1.ProviderConfig{}, builder.WithPredicates(r.relevant())).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.ofSecret),
			builder.WithPredicates(predicate.ResourceVersionChangedPredicate{}))
	for _, k := range referrers() {
		b = b.Watches(k.one, handler.EnqueueRequestsFromMapFunc(ofReferrer), builder.WithPredicates(comesOrGoes()))
	}
	return b.WithOptions(request.ControllerOptions(workers)).Complete(reconcile.AsReconciler(m.GetClient(), r))
}

// relevant leaves out what this reconciler writes itself.
func (r *Reconciler) relevant() predicate.Predicate {
	return predicate.And(predicate.GenerationChangedPredicate{}, predicate.Funcs{
		DeleteFunc: func(e event.DeleteEvent) bool {
			r.forget(e.Object)
			return false
		},
	})
}

// comesOrGoes leaves out updates: what refers to a ProviderConfig cannot change
// to another one.
func comesOrGoes() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}
}

func (r *Reconciler) ofSecret(ctx context.Context, secret client.Object) []reconcile.Request {
	var found []reconcile.Request
	for _, config := range session.ConfigsOf(ctx, r.Client, secret) {
		found = append(found, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(config)})
	}
	return found
}
