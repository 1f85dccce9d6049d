// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	ctrlsource "sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon/install"
	"github.com/butlerdotdev/butler/internal/addon/source"
	"github.com/butlerdotdev/butler/internal/controller/metric"
	"github.com/butlerdotdev/butler/internal/talos"
)

// wakeLag makes one walk of what happens to several addons at about the same
// time: they proceed by themselves, and the walk only reports.
const wakeLag = 200 * time.Millisecond

// workers is how many clusters are looked after at once. They mostly wait for answers,
// and a cluster that is silent keeps one for as long as its questions take: there are
// enough for dozens of silent ones beside the others.
const workers = 32

// An error is tried again after retryFirst, then ever later, up to retryLast.
const (
	retryFirst = 50 * time.Millisecond
	retryLast  = 5 * time.Second
)

// Options are what the reconciler needs beside a manager.
type Options struct {
	// Dial opens all connections to nodes and to new clusters.
	Dial talos.Dialer
	// Addons is where addons come from.
	Addons *source.Source
	// Digests pin the images of this version's controllers, by name; others are found by tag.
	Digests map[string]string
	// Clock returns the time; nil is time.Now.
	Clock func() time.Time
}

// Register adds the reconciler to a manager.
func Register(m manager.Manager, o Options) error {
	woken := make(chan event.TypedGenericEvent[types.NamespacedName], 64)
	r := &Reconciler{
		Live:     m.GetAPIReader(),
		Dial:     o.Dial,
		Addons:   installer(m, o.Addons, woken),
		Digests:  o.Digests,
		Recorder: m.GetEventRecorder("butler-bootstrap"),
		Clock:    o.Clock,
	}
	r.Client = r.writes.Client(m.GetClient())
	if r.Clock == nil {
		r.Clock = time.Now
	}
	if err := m.Add(manager.RunnableFunc(func(ctx context.Context) error {
		<-ctx.Done()
		r.Addons.Close()
		return nil
	})); err != nil {
		return err
	}
	if err := (&unserved{Client: m.GetClient(), clock: r.Clock}).register(m); err != nil {
		return err
	}
	if err := follow(m); err != nil {
		return err
	}
	own := predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return builder.ControllerManagedBy(m).
		Named("clusterbootstrap").
		For(&v1alpha1.ClusterBootstrap{}, builder.WithPredicates(own)).
		Watches(&v1alpha1.MachineRequest{}, handler.EnqueueRequestsFromMapFunc(byLabel)).
		Watches(&v1alpha1.LoadBalancerRequest{}, handler.EnqueueRequestsFromMapFunc(byLabel)).
		Watches(&v1alpha1.IPAllocation{}, handler.EnqueueRequestsFromMapFunc(byLabel)).
		Watches(&v1alpha1.NetworkPool{}, handler.EnqueueRequestsFromMapFunc(r.byPool)).
		Watches(&v1alpha1.ProviderConfig{}, handler.EnqueueRequestsFromMapFunc(r.byProvider), builder.WithPredicates(predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, servedOrNot()))).
		WatchesRawSource(wake(woken)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: workers,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](retryFirst, retryLast),
		}).
		Complete(reconcile.Func(r.byName))
}

// follow counts the clusters that this plane is in charge of, by phase.
func follow(m manager.Manager) error {
	recorded, err := metric.In(metrics.Registry)
	if err != nil {
		return err
	}
	return recorded.Follow(m, metric.Phases{Object: &v1alpha1.ClusterBootstrap{}, Of: func(o client.Object) (string, string, bool) {
		cb, ours := o.(*v1alpha1.ClusterBootstrap)
		if !ours {
			return "", "", false
		}
		return string(cb.Spec.Provider), string(cb.Status.Phase), !v1alpha1.Fenced(cb)
	}})
}

// byName reconciles the object of a name. There is none if its finalizer was removed:
// then work on its cluster ends.
func (r *Reconciler) byName(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	cb := &v1alpha1.ClusterBootstrap{}
	err := r.Client.Get(ctx, request.NamespacedName, cb)
	if apierrors.IsNotFound(err) {
		r.Addons.Forget(request.String())
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	return r.Reconcile(ctx, cb)
}

// installer reports addons whose state has changed through woken.
func installer(m manager.Manager, s *source.Source, woken chan<- event.TypedGenericEvent[types.NamespacedName]) *install.Installer {
	return install.New(install.Options{
		Source: s,
		Wake: func(id string) {
			namespace, name, _ := strings.Cut(id, "/")
			select {
			case woken <- event.TypedGenericEvent[types.NamespacedName]{Object: types.NamespacedName{Namespace: namespace, Name: name}}:
			default: // the walks that are due will see it
			}
		},
		Log: slog.New(logr.ToSlogHandler(m.GetLogger().WithName("addons"))),
	})
}

func wake(woken <-chan event.TypedGenericEvent[types.NamespacedName]) ctrlsource.Source {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return ctrlsource.TypedChannel(woken, handler.TypedFuncs[types.NamespacedName, reconcile.Request]{
		GenericFunc: func(_ context.Context, e event.TypedGenericEvent[types.NamespacedName], q queue) {
			q.AddAfter(reconcile.Request{NamespacedName: e.Object}, wakeLag)
		},
	})
}

// byLabel maps a request to the ClusterBootstrap that created it.
func byLabel(_ context.Context, o client.Object) []reconcile.Request {
	name := o.GetLabels()[v1alpha1.LabelClusterBootstrap]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: name}}}
}

// byPool returns the ClusterBootstraps of a namespace that may wait for addresses of a pool:
// those without machines.
func (r *Reconciler) byPool(ctx context.Context, o client.Object) (out []reconcile.Request) {
	var all v1alpha1.ClusterBootstrapList
	if err := r.Client.List(ctx, &all, client.InNamespace(o.GetNamespace())); err != nil {
		return nil
	}
	for _, cb := range all.Items {
		if len(cb.Status.Machines) == 0 {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&cb)})
		}
	}
	return out
}

// byProvider returns the ClusterBootstraps that use a ProviderConfig.
func (r *Reconciler) byProvider(ctx context.Context, o client.Object) (out []reconcile.Request) {
	var all v1alpha1.ClusterBootstrapList
	if err := r.Client.List(ctx, &all); err != nil {
		return nil
	}
	for _, cb := range all.Items {
		if cb.ProviderConfig() == client.ObjectKeyFromObject(o) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&cb)})
		}
	}
	return out
}
