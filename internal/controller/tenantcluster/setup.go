// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	ctrlsource "sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon/install"
	"github.com/butlerdotdev/butler/internal/addon/source"
	"github.com/butlerdotdev/butler/internal/controller/metric"
	"github.com/butlerdotdev/butler/internal/talos"
)

const (
	// workers is how many clusters are looked after at once: a silent one keeps a worker for as
	// long as its questions take.
	workers = 32
	// An error is tried again after retryFirst, then ever later, up to retryLast.
	retryFirst = 50 * time.Millisecond
	retryLast  = 5 * time.Second
)

// Options are what the reconciler needs beside a manager.
type Options struct {
	// Dial opens all connections to nodes, platforms and tenant API servers.
	Dial talos.Dialer
	// Lookup resolves names of load balancers.
	Lookup Lookup
	// Addons is where addons come from.
	Addons *source.Source
	// TrustdTag is the tag of the image that Steward serves the Talos API's certificates with.
	TrustdTag string
	// LoginTTL is for how long the credentials of a platform are used before they are read again;
	// 0 is half a minute.
	LoginTTL time.Duration
	// Clock returns the time; nil is time.Now.
	Clock func() time.Time
}

type wakeEvent = event.TypedGenericEvent[types.NamespacedName]

// Register adds the reconciler to a manager. Kinds of Cluster API are watched as soon as the
// cluster serves them.
func Register(m manager.Manager, o Options) error {
	woken := make(chan wakeEvent, 1024)
	wake := func(id string) {
		namespace, name, _ := strings.Cut(id, "/")
		select {
		case woken <- wakeEvent{Object: types.NamespacedName{Namespace: namespace, Name: name}}:
		default: // the walks that are due will see it
		}
	}
	r := &Reconciler{
		Live: m.GetAPIReader(), Objects: m.GetCache(), Dial: o.Dial, Lookup: o.Lookup,
		Addons:  install.New(install.Options{Source: o.Addons, Wake: wake, Log: slog.New(logr.ToSlogHandler(m.GetLogger().WithName("addons")))}),
		Tenants: &Tenants{Dial: o.Dial, Wake: wake}, Recorder: m.GetEventRecorder(Owner), TrustdTag: o.TrustdTag, Clock: o.Clock,
		LoginTTL: cmp.Or(o.LoginTTL, loginTTL),
	}
	r.Client = r.writes.Client(m.GetClient())
	if r.Clock == nil {
		r.Clock = time.Now
	}
	changed := func(ctx context.Context) {
		for _, each := range r.everyOne(ctx, nil) {
			select {
			case woken <- wakeEvent{Object: each.NamespacedName}:
			case <-ctx.Done():
			}
		}
	}
	if err := errors.Join(m.Add(manager.RunnableFunc(r.closeWith)), m.Add(manager.RunnableFunc(r.followLogins(changed)))); err != nil {
		return err
	}
	if err := follow(m); err != nil {
		return err
	}
	own := predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	c, err := builder.ControllerManagedBy(m).
		Named("tenantcluster").
		For(&v1alpha1.TenantCluster{}, builder.WithPredicates(own)).
		Watches(&v1alpha1.ProviderConfig{}, handler.EnqueueRequestsFromMapFunc(r.everyOne), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.ButlerConfig{}, handler.EnqueueRequestsFromMapFunc(r.everyOne), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.Team{}, handler.EnqueueRequestsFromMapFunc(r.ofTeam)).
		Watches(&v1alpha1.IPAllocation{}, r.collect(ofAllocation)).
		Watches(&v1alpha1.NetworkPool{}, r.collect(r.lacking)).
		WatchesMetadata(&corev1.Namespace{}, r.collect(bySource)).
		WatchesRawSource(ctrlsource.TypedChannel(woken, r.wakeHandler())).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: workers,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](retryFirst, retryLast),
		}).
		Build(reconcile.Func(r.byName))
	if err != nil {
		return err
	}
	r.Watch = (&watches{controller: c, manager: m, reconciler: r}).add
	return nil
}

// follow counts tenant clusters by phase.
func follow(m manager.Manager) error {
	recorded, err := metric.In(metrics.Registry)
	if err != nil {
		return err
	}
	return recorded.Follow(m, metric.Phases{Object: &v1alpha1.TenantCluster{}, Of: func(o client.Object) (string, string, bool) {
		tc, ours := o.(*v1alpha1.TenantCluster)
		if !ours {
			return "", "", false
		}
		return "", string(tc.Status.Phase), true
	}})
}

func (r *Reconciler) closeWith(ctx context.Context) error {
	<-ctx.Done()
	r.Addons.Close()
	r.Tenants.Close()
	return nil
}

// byName reconciles the object of a name. There is none if its finalizer was removed: then
// work on its cluster ends.
func (r *Reconciler) byName(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	tc := &v1alpha1.TenantCluster{}
	err := r.Client.Get(ctx, request.NamespacedName, tc)
	if apierrors.IsNotFound(err) {
		r.Addons.Forget(request.String())
		r.Tenants.Forget(request.String())
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	return r.Reconcile(ctx, tc)
}

// bySource maps the namespace of a tenant to its TenantCluster.
func bySource(_ context.Context, o client.Object) []reconcile.Request {
	labels := o.GetLabels()
	key := types.NamespacedName{Namespace: labels[v1alpha1.LabelSourceNamespace], Name: labels[v1alpha1.LabelSourceName]}
	if key.Name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: key}}
}

// ofAllocation maps an IPAllocation to the TenantCluster that it is for.
func ofAllocation(_ context.Context, o client.Object) []reconcile.Request {
	a, ok := o.(*v1alpha1.IPAllocation)
	if !ok || a.Spec.TenantClusterRef == nil {
		return nil
	}
	ref := a.Spec.TenantClusterRef
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}}}
}

// lacking returns the TenantClusters that wait for addresses.
func (r *Reconciler) lacking(ctx context.Context, _ client.Object) []reconcile.Request {
	return r.thoseOf(ctx, func(tc *v1alpha1.TenantCluster) bool {
		return meta.IsStatusConditionFalse(tc.Status.Conditions, v1alpha1.ConditionNetworkReady)
	})
}

// everyOne returns all TenantClusters: a ButlerConfig or a ProviderConfig is the default of
// clusters that do not name it.
func (r *Reconciler) everyOne(ctx context.Context, _ client.Object) []reconcile.Request {
	return r.thoseOf(ctx, func(*v1alpha1.TenantCluster) bool { return true })
}

func (r *Reconciler) ofTeam(ctx context.Context, o client.Object) []reconcile.Request {
	return r.thoseOf(ctx, func(tc *v1alpha1.TenantCluster) bool {
		return tc.Spec.TeamRef != nil && tc.Spec.TeamRef.Name == o.GetName()
	})
}

func (r *Reconciler) thoseOf(ctx context.Context, is func(*v1alpha1.TenantCluster) bool) (out []reconcile.Request) {
	var all v1alpha1.TenantClusterList
	if err := r.Client.List(ctx, &all); err != nil {
		return nil
	}
	for i := range all.Items {
		if is(&all.Items[i]) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&all.Items[i])})
		}
	}
	return out
}
