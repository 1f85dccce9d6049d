// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/internal/controller/session"
	"github.com/butlerdotdev/butler/provider"
)

// How long a pushed change may wait for the ones that follow it. A deletion has
// several, of which the last one counts.
const (
	gathering         = 50 * time.Millisecond
	gatheringDeletion = 300 * time.Millisecond
)

// How many requests are reconciled at once: they mostly wait for the platform. One
// platform gets a part of the workers, and a small one while it does not answer.
const (
	workers     = 512
	onePlatform = 128
	whileSilent = 4
)

// Register adds the reconciler of a provider to a manager.
func Register(m manager.Manager, o request.Options) error {
	r := &Reconciler{
		Client: m.GetClient(), Type: o.Type, Sessions: o.Sessions,
		Events: m.GetEventRecorder("butler-provider-" + string(o.Type)),
		now:    o.Now,
	}
	return r.register(m)
}

func (r *Reconciler) register(m manager.Manager) error {
	r.Fence = request.Fence{Cache: m.GetClient(), Live: m.GetAPIReader()}
	r.turns = request.NewTurns(onePlatform, whileSilent)
	if err := r.index(m.GetFieldIndexer()); err != nil {
		return err
	}
	changed := builder.WithPredicates(predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))
	return builder.ControllerManagedBy(m).
		Named("machinerequest-"+string(r.Type)).
		For(&v1alpha1.MachineRequest{}, builder.WithPredicates(r.relevant())).
		Watches(&v1alpha1.ProviderConfig{}, handler.EnqueueRequestsFromMapFunc(r.ofConfig), changed).
		Watches(&v1alpha1.ClusterBootstrap{}, handler.EnqueueRequestsFromMapFunc(r.ofBootstrap), builder.WithPredicates(request.FenceMoved())).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(request.OfSecret(r.Client, r.ofConfig)),
			builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		WatchesRawSource(source.Channel(r.Sessions.Changes(), handler.TypedFuncs[session.Change, reconcile.Request]{
			GenericFunc: r.pushed,
		})).
		WatchesRawSource(r.turns.Source()).
		WithOptions(request.ControllerOptions(workers)).
		Complete(reconcile.AsReconciler(m.GetClient(), r))
}

// relevant leaves out what this reconciler writes itself: metadata and status do
// not change the generation, a deletion does.
func (r *Reconciler) relevant() predicate.Predicate {
	changed := predicate.Or(predicate.GenerationChangedPredicate{}, request.Disclaimed())
	return predicate.And(changed, predicate.Funcs{
		DeleteFunc: func(e event.DeleteEvent) bool {
			r.memory.Forget(e.Object.GetUID())
			return false
		},
	})
}

// The indexes carry the provider's name, so that one manager can hold several.
func (r *Reconciler) byConfig() string { return string(r.Type) + ".providerRef" }

func (r *Reconciler) byOwner() string { return string(r.Type) + ".owner" }

func (r *Reconciler) byBootstrap() string { return string(r.Type) + ".bootstrap" }

func (r *Reconciler) index(i client.FieldIndexer) error {
	ctx := context.Background()
	err := i.IndexField(ctx, &v1alpha1.MachineRequest{}, r.byConfig(), func(o client.Object) []string {
		return []string{o.(*v1alpha1.MachineRequest).ProviderConfig().String()}
	})
	if err != nil {
		return err
	}
	if err := request.IndexBootstrap(ctx, i, &v1alpha1.MachineRequest{}, r.byBootstrap()); err != nil {
		return err
	}
	return request.IndexOwner(ctx, i, &v1alpha1.MachineRequest{}, r.byOwner())
}

func (r *Reconciler) ofConfig(ctx context.Context, config client.Object) []reconcile.Request {
	return r.matching(ctx, r.byConfig(), client.ObjectKeyFromObject(config).String())
}

func (r *Reconciler) ofBootstrap(ctx context.Context, cb client.Object) []reconcile.Request {
	return r.matching(ctx, r.byBootstrap(), client.ObjectKeyFromObject(cb).String())
}

func (r *Reconciler) pushed(ctx context.Context, e event.TypedGenericEvent[session.Change], q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	index, value := r.byOwner(), e.Object.Ref.Owner.ID
	if e.Object.Ref == (provider.MachineRef{}) {
		index, value = r.byConfig(), e.Object.Config.String()
	}
	list := &v1alpha1.MachineRequestList{}
	if err := r.Client.List(ctx, list, client.MatchingFields{index: value}, client.UnsafeDisableDeepCopy); err != nil {
		return // the cache ends with the program
	}
	for i := range list.Items {
		q.AddAfter(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])}, gatheringFor(&list.Items[i]))
	}
}

func gatheringFor(m *v1alpha1.MachineRequest) time.Duration {
	if m.DeletionTimestamp.IsZero() {
		return gathering
	}
	return gatheringDeletion
}

func (r *Reconciler) matching(ctx context.Context, index, value string) []reconcile.Request {
	return request.Matching(ctx, r.Client, &v1alpha1.MachineRequestList{}, index, value)
}
