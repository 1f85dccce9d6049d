// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// clusters plays the controller of infrastructure clusters.
type clusters struct {
	client.Client
	kind kind
}

// errWait is about what another program has to do first; the message says what.
var errWait = errors.New("waiting")

// errNotAllowed is about an identity that a namespace may not use.
var errNotAllowed = errors.New("is not permitted to be used")

func waitFor(what string) error { return fmt.Errorf("%w for %s", errWait, what) }

// Reconcile brings an infrastructure cluster to ready, or away.
func (r *clusters) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	infra := r.kind.object("Cluster")
	if err := r.Get(ctx, request.NamespacedName, infra); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	cluster, err := ownedBy(ctx, r, infra, "Cluster")
	if err != nil || cluster == nil {
		return ctrl.Result{RequeueAfter: again}, err
	}
	if _, external := infra.GetAnnotations()[coreGroup+"/managed-by"]; external && !r.kind.ignoresManagedBy {
		return ctrl.Result{}, nil
	}
	if isPaused(cluster, infra) && !r.kind.ignoresPause {
		return ctrl.Result{RequeueAfter: again}, nil
	}
	s := &scope{Client: r, kind: r.kind, cluster: cluster, infra: infra}
	if !infra.GetDeletionTimestamp().IsZero() {
		return r.remove(ctx, s)
	}
	return r.converge(ctx, s)
}

func (r *clusters) finalizer() string {
	return fmt.Sprintf("%scluster.%s", r.kind.name, infrastructureGroup)
}

func (r *clusters) converge(ctx context.Context, s *scope) (ctrl.Result, error) {
	before := s.infra.DeepCopy()
	if controllerutil.AddFinalizer(s.infra, r.finalizer()) {
		if err := r.Patch(ctx, s.infra, client.MergeFrom(before)); err != nil {
			return ctrl.Result{}, err
		}
		before = s.infra.DeepCopy()
	}
	err := r.kind.cluster(ctx, s)
	if err == nil {
		_ = unstructured.SetNestedField(s.infra.Object, true, "status", "ready")
		r.kind.show(s.infra, ofCluster, nil)
		return ctrl.Result{RequeueAfter: watchAfter}, r.Status().Patch(ctx, s.infra, client.MergeFrom(before))
	}
	r.kind.show(s.infra, ofCluster, err)
	return ctrl.Result{RequeueAfter: again}, r.Status().Patch(ctx, s.infra, client.MergeFrom(before))
}

// remove lets the infrastructure cluster go when it has no machine any more.
func (r *clusters) remove(ctx context.Context, s *scope) (ctrl.Result, error) {
	machines := &unstructured.UnstructuredList{}
	machines.SetAPIVersion(infrastructureGroup + "/" + r.kind.version)
	machines.SetKind(r.kind.prefix + "MachineList")
	if err := r.List(ctx, machines, client.InNamespace(s.infra.GetNamespace()), client.MatchingLabels{coreGroup + "/cluster-name": s.cluster.GetName()}); err != nil {
		return ctrl.Result{}, err
	}
	if len(machines.Items) > 0 {
		return ctrl.Result{RequeueAfter: again}, nil
	}
	before := s.infra.DeepCopy()
	if !controllerutil.RemoveFinalizer(s.infra, r.finalizer()) {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, client.IgnoreNotFound(r.Patch(ctx, s.infra, client.MergeFrom(before)))
}
