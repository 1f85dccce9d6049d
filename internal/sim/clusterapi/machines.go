// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// machines plays the controller of infrastructure machines.
type machines struct {
	client.Client
	kind   kind
	events record.EventRecorder
}

// Reconcile brings a machine to running, or away.
func (r *machines) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object := r.kind.object("Machine")
	if err := r.Get(ctx, request.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	owner, err := ownedBy(ctx, r, object, "Machine")
	if err != nil || owner == nil {
		return ctrl.Result{RequeueAfter: again}, err
	}
	s, err := r.scope(ctx, owner)
	if err != nil || s == nil {
		return ctrl.Result{RequeueAfter: again}, err
	}
	if isPaused(s.cluster, object) && !r.kind.ignoresPause {
		return ctrl.Result{RequeueAfter: again}, nil
	}
	if !object.GetDeletionTimestamp().IsZero() {
		return r.remove(ctx, s, object)
	}
	if textOf(object.Object, "status", "failureReason") != "" {
		return ctrl.Result{}, nil // a terminal failure
	}
	return r.converge(ctx, s, owner, object)
}

// scope is nil while Cluster or infrastructure cluster are not there.
func (r *machines) scope(ctx context.Context, owner *unstructured.Unstructured) (*scope, error) {
	name := textOf(owner.Object, "spec", "clusterName")
	cluster, err := get(ctx, r, coreGroup+"/v1beta2", "Cluster", owner.GetNamespace(), name)
	if err != nil || cluster == nil {
		return nil, err
	}
	k := r.kind.object("Cluster")
	infra, err := get(ctx, r, k.GetAPIVersion(), k.GetKind(), owner.GetNamespace(), textOf(cluster.Object, "spec", "infrastructureRef", "name"))
	if err != nil || infra == nil {
		return nil, err
	}
	return &scope{Client: r, kind: r.kind, cluster: cluster, infra: infra}, nil
}

func (r *machines) finalizer() string {
	return fmt.Sprintf("%smachine.%s", r.kind.name, infrastructureGroup)
}

func (r *machines) converge(ctx context.Context, s *scope, owner, object *unstructured.Unstructured) (ctrl.Result, error) {
	before := object.DeepCopy()
	if controllerutil.AddFinalizer(object, r.finalizer()) {
		if err := r.Patch(ctx, object, client.MergeFrom(before)); err != nil {
			return ctrl.Result{}, err
		}
		before = object.DeepCopy()
	}
	found, err := r.create(ctx, s, owner, object)
	if err != nil {
		return r.explain(ctx, object, before, err)
	}
	return r.show(ctx, s, object, before, found)
}

// create asks the platform for the machine once everything is there that it needs.
func (r *machines) create(ctx context.Context, s *scope, owner, object *unstructured.Unstructured) (instance, error) {
	if !boolOf(s.cluster.Object, "status", "initialization", "infrastructureProvisioned") {
		return instance{}, waitFor("the infrastructure of the cluster to be ready")
	}
	name := textOf(owner.Object, "spec", "bootstrap", "dataSecretName")
	if name == "" {
		return instance{}, waitFor("the bootstrap data to be available")
	}
	data, err := s.secret(ctx, object.GetNamespace(), name)
	if err != nil {
		return instance{}, fmt.Errorf("retrieve the bootstrap data of Secret %s: %w", name, err)
	}
	if len(data["value"]) == 0 {
		return instance{}, fmt.Errorf("retrieve the bootstrap data of Secret %s: the key value is missing", name)
	}
	p, err := r.kind.connect(ctx, s)
	if err != nil {
		return instance{}, err
	}
	o := orderOf(s, object)
	o.userData, o.zone = data["value"], textOf(owner.Object, "spec", "failureDomain")
	return p.ensure(ctx, o)
}

func orderOf(s *scope, object *unstructured.Unstructured) order {
	spec, _, _ := unstructured.NestedMap(object.Object, "spec")
	return order{name: object.GetName(), id: string(object.GetUID()), cluster: s.cluster.GetName(), spec: spec, object: object}
}

// explain shows an error; that of a provider that never tries again is terminal.
func (r *machines) explain(ctx context.Context, object, before *unstructured.Unstructured, err error) (ctrl.Result, error) {
	if r.kind.silent {
		return r.complain(object, err)
	}
	r.kind.show(object, creating, err)
	if r.kind.terminal && !errors.Is(err, errWait) {
		_ = unstructured.SetNestedField(object.Object, "CreateError", "status", "failureReason")
		_ = unstructured.SetNestedField(object.Object, err.Error(), "status", "failureMessage")
	}
	return ctrl.Result{RequeueAfter: again}, r.Status().Patch(ctx, object, client.MergeFrom(before))
}

// complain records an event, as a provider without conditions does.
func (r *machines) complain(object *unstructured.Unstructured, problem error) (ctrl.Result, error) {
	if !errors.Is(problem, errWait) {
		r.events.Eventf(object, corev1.EventTypeWarning, object.GetKind()+"Reconcile", "Reconcile error - %v", problem)
	}
	return ctrl.Result{RequeueAfter: again}, nil
}

// show writes what the platform knows of the machine.
func (r *machines) show(ctx context.Context, s *scope, object, before *unstructured.Unstructured, m instance) (ctrl.Result, error) {
	if m.providerID != "" && textOf(object.Object, "spec", "providerID") != m.providerID {
		_ = unstructured.SetNestedField(object.Object, m.providerID, "spec", "providerID")
		if err := r.Patch(ctx, object, client.MergeFrom(before)); err != nil {
			return ctrl.Result{}, err
		}
		before = object.DeepCopy()
	}
	var addresses []any
	for _, a := range m.addresses {
		addresses = append(addresses, map[string]any{"type": "InternalIP", "address": a})
	}
	_ = unstructured.SetNestedSlice(object.Object, addresses, "status", "addresses")
	_ = unstructured.SetNestedField(object.Object, m.running, "status", "ready")
	if !r.kind.silent {
		r.kind.show(object, starting, m.waits())
	}
	if err := r.Status().Patch(ctx, object, client.MergeFrom(before)); err != nil {
		return ctrl.Result{}, err
	}
	if !m.running {
		return ctrl.Result{RequeueAfter: again}, nil
	}
	if r.kind.setsNode {
		if done, err := s.markNode(ctx, object.GetName(), m.providerID); err != nil || !done {
			return ctrl.Result{RequeueAfter: again}, nil //nolint:nilerr // the tenant does not answer yet
		}
	}
	return ctrl.Result{RequeueAfter: watchAfter}, nil
}

func (r *machines) remove(ctx context.Context, s *scope, object *unstructured.Unstructured) (ctrl.Result, error) {
	p, err := r.kind.connect(ctx, s)
	if err == nil {
		var gone bool
		if gone, err = p.remove(ctx, orderOf(s, object)); err == nil && !gone {
			return ctrl.Result{RequeueAfter: again}, nil
		}
	}
	before := object.DeepCopy()
	if err != nil && !apierrors.IsNotFound(err) && r.kind.silent {
		return r.complain(object, err)
	}
	if err != nil && !apierrors.IsNotFound(err) {
		r.kind.show(object, deleting, err)
		return ctrl.Result{RequeueAfter: again}, r.Status().Patch(ctx, object, client.MergeFrom(before))
	}
	if !controllerutil.RemoveFinalizer(object, r.finalizer()) {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, client.IgnoreNotFound(r.Patch(ctx, object, client.MergeFrom(before)))
}
