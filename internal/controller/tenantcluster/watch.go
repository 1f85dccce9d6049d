// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	ctrlsource "sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/butlerdotdev/butler/internal/addon"
)

// Kinds that say how a control plane is reached.
var (
	gateways  = schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "Gateway"}
	tlsRoutes = schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1alpha2", Kind: "TLSRoute"}
	ingresses = schema.GroupVersionKind{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"}
	services  = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
)

// traefikService is the Service of the ingress controller that a bootstrap installs.
func traefikService() client.ObjectKey {
	return client.ObjectKey{Namespace: addon.Traefik, Name: addon.Traefik}
}

// follow reads an object of a kind that is watched from then on; nil if there is none.
func (r *Reconciler) follow(ctx context.Context, kind schema.GroupVersionKind, key client.ObjectKey) (*unstructured.Unstructured, error) {
	served, err := r.served(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	if served.Empty() {
		return nil, &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
	}
	if err := r.watch(kind); err != nil {
		return nil, err
	}
	return r.read(ctx, kind, key)
}

// watches adds kinds to what a controller watches, each once.
type watches struct {
	controller controller.Controller
	manager    manager.Manager
	reconciler *Reconciler

	mu    sync.Mutex
	known map[schema.GroupVersionKind]bool
}

func (w *watches) add(o client.Object) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	kind := o.GetObjectKind().GroupVersionKind()
	if w.known[kind] {
		return nil
	}
	if err := w.controller.Watch(ctrlsource.Kind(w.manager.GetCache(), o, w.reconciler.collect(w.reconciler.concerned), relevant(kind))); err != nil {
		return err
	}
	if w.known == nil {
		w.known = map[schema.GroupVersionKind]bool{}
	}
	w.known[kind] = true
	return nil
}

// relevant lets all changes of a kind pass but those that concern no tenant: a Gateway counts its
// routes in its status, and all tenants follow it.
func relevant(kind schema.GroupVersionKind) predicate.Predicate {
	if kind != gateways {
		return predicate.Funcs{}
	}
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*unstructured.Unstructured)
		after, is := e.ObjectNew.(*unstructured.Unstructured)
		return !ok || !is || before.GetGeneration() != after.GetGeneration() || !sameStatus(before, after, "addresses") || !sameStatus(before, after, "conditions")
	}}
}

func sameStatus(before, after *unstructured.Unstructured, field string) bool {
	was, _, _ := unstructured.NestedFieldNoCopy(before.Object, "status", field)
	is, _, _ := unstructured.NestedFieldNoCopy(after.Object, "status", field)
	return equality.Semantic.DeepEqual(was, is)
}

// concerned maps an object to the TenantCluster of its namespace. A Gateway and the Service of an
// ingress controller are those of all.
func (r *Reconciler) concerned(ctx context.Context, o client.Object) []reconcile.Request {
	switch kind := o.GetObjectKind().GroupVersionKind(); {
	case kind == gateways, kind == services && client.ObjectKeyFromObject(o) == traefikService():
		return r.everyOne(ctx, o)
	}
	namespace := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: o.GetNamespace()}, namespace); err != nil {
		return nil
	}
	return bySource(ctx, namespace)
}
