// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package butlerconfig

import (
	"context"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// gatewayPoll is how often a Gateway is looked for: its kind may not be served,
// and what is not served cannot be watched.
const gatewayPoll = 10 * time.Second

// Register adds the reconciler to a manager.
func Register(m manager.Manager) error {
	return register(m, &Reconciler{
		Client:      m.GetClient(),
		Live:        m.GetAPIReader(),
		Recorder:    m.GetEventRecorder("butler-controller"),
		GatewayPoll: gatewayPoll,
	})
}

func register(m manager.Manager, r *Reconciler) error {
	r.Client = r.writes.Client(r.Client)
	changed := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	return builder.ControllerManagedBy(m).
		Named("butlerconfig").
		For(&v1alpha1.ButlerConfig{}, changed).
		Watches(&v1alpha1.ProviderConfig{}, handler.EnqueueRequestsFromMapFunc(theOne), changed).
		Watches(&v1alpha1.Team{}, handler.EnqueueRequestsFromMapFunc(theOne), changed).
		Watches(&v1alpha1.TenantCluster{}, handler.EnqueueRequestsFromMapFunc(theOne), changed).
		WatchesMetadata(&networkingv1.IngressClass{}, handler.EnqueueRequestsFromMapFunc(theOne)).
		Complete(reconcile.AsReconciler(m.GetClient(), r))
}

// theOne maps every object to the one ButlerConfig.
func theOne(context.Context, client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: v1alpha1.ButlerConfigName}}}
}
