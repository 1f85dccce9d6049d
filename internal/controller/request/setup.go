// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/metric"
	"github.com/butlerdotdev/butler/internal/controller/session"
	"github.com/butlerdotdev/butler/provider"
)

// Register adds the reconciler of a kind and a provider to a manager.
func Register[O Object, P ~string, S any](m manager.Manager, o Options, kind Kind[O, P, S]) error {
	r := &Reconciler[O, P, S]{
		Kind: kind, Client: m.GetClient(), Type: o.Type, Sessions: o.Sessions, Clock: o.Clock, Metrics: o.Metrics,
		Events: m.GetEventRecorder("butler-provider-" + string(o.Type)),
		Fence:  Fence{Cache: m.GetClient(), Live: m.GetAPIReader()},
		turns:  NewTurns(kind.PerPlatform, kind.WhileSilent),
	}
	if err := r.index(m.GetFieldIndexer()); err != nil {
		return err
	}
	if err := r.follow(m); err != nil {
		return err
	}
	return r.controller(m).Complete(reconcile.AsReconciler(m.GetClient(), r))
}

// follow counts the requests that this provider has taken, by phase.
func (r *Reconciler[O, P, S]) follow(m manager.Manager) error {
	return r.Metrics.Follow(m, metric.Phases{Object: r.Kind.New(), Of: func(o client.Object) (string, string, bool) {
		request, ours := o.(O)
		if !ours || !controllerutil.ContainsFinalizer(o, r.Kind.Finalizer(r.Type)) {
			return "", "", false
		}
		return string(r.Type), string(*r.Kind.Status(request).Phase), true
	}})
}

func (r *Reconciler[O, P, S]) controller(m manager.Manager) *builder.Builder {
	changed := builder.WithPredicates(predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))
	b := builder.ControllerManagedBy(m).
		Named(r.Kind.Name+"-"+string(r.Type)).
		For(r.Kind.New(), builder.WithPredicates(r.relevant())).
		Watches(&v1alpha1.ProviderConfig{}, handler.EnqueueRequestsFromMapFunc(r.ofConfig), changed).
		Watches(&v1alpha1.ClusterBootstrap{}, handler.EnqueueRequestsFromMapFunc(r.ofBootstrap), builder.WithPredicates(FenceMoved())).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(OfSecret(r.Client, r.ofConfig)),
			builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		WatchesRawSource(r.turns.Source()).
		WithOptions(ControllerOptions(r.Kind.Workers))
	if r.Kind.Extra.PushWithin != nil {
		b = b.WatchesRawSource(source.Channel(r.Sessions.Changes(), handler.TypedFuncs[session.Change, reconcile.Request]{
			GenericFunc: r.pushed,
		}))
	}
	return b
}

// relevant leaves out what this reconciler writes itself: metadata and status do
// not change the generation, a deletion and a changed spec do.
func (r *Reconciler[O, P, S]) relevant() predicate.Predicate {
	changed := predicate.Or(predicate.GenerationChangedPredicate{}, Disclaimed())
	return predicate.And(changed, predicate.Funcs{
		DeleteFunc: func(e event.DeleteEvent) bool {
			r.memory.Forget(e.Object.GetUID())
			return false
		},
	})
}

// The indexes carry the provider's name, so that one manager can hold several.
func (r *Reconciler[O, P, S]) byConfig() string { return string(r.Type) + ".providerConfig" }

func (r *Reconciler[O, P, S]) byOwner() string { return string(r.Type) + ".owner" }

func (r *Reconciler[O, P, S]) byBootstrap() string { return string(r.Type) + ".bootstrap" }

func (r *Reconciler[O, P, S]) index(i client.FieldIndexer) error {
	ctx := context.Background()
	err := i.IndexField(ctx, r.Kind.New(), r.byConfig(), func(o client.Object) []string {
		return []string{o.(O).ProviderConfig().String()}
	})
	if err != nil {
		return err
	}
	if err := IndexBootstrap(ctx, i, r.Kind.New(), r.byBootstrap()); err != nil {
		return err
	}
	return IndexOwner(ctx, i, r.Kind.New(), r.byOwner())
}

func (r *Reconciler[O, P, S]) ofConfig(ctx context.Context, config client.Object) []reconcile.Request {
	return Matching(ctx, r.Client, r.Kind.NewList(), r.byConfig(), client.ObjectKeyFromObject(config).String())
}

func (r *Reconciler[O, P, S]) ofBootstrap(ctx context.Context, cb client.Object) []reconcile.Request {
	return Matching(ctx, r.Client, r.Kind.NewList(), r.byBootstrap(), client.ObjectKeyFromObject(cb).String())
}

// pushed enqueues the requests that a pushed change is about.
func (r *Reconciler[O, P, S]) pushed(ctx context.Context, e event.TypedGenericEvent[session.Change], q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	index, value := r.byOwner(), e.Object.Ref.Owner.ID
	if e.Object.Ref == (provider.MachineRef{}) {
		index, value = r.byConfig(), e.Object.Config.String()
	}
	list := r.Kind.NewList()
	if err := r.Client.List(ctx, list, client.MatchingFields{index: value}, client.UnsafeDisableDeepCopy); err != nil {
		return // the cache ends with the program
	}
	_ = meta.EachListItem(list, func(o runtime.Object) error { // fails only for what is not a list
		q.AddAfter(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o.(O))}, r.Kind.Extra.PushWithin(o.(O)))
		return nil
	})
}
