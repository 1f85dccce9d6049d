// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/tenant"
)

const (
	coreGroup         = "cluster.x-k8s.io"
	controlPlaneGroup = "controlplane.cluster.x-k8s.io"
)

// kinds are those of a cluster's objects, in the versions that are served.
type kinds struct {
	cluster, deployment, set, machine schema.GroupVersionKind
	controlPlane                      schema.GroupVersionKind
	infrastructure, template          schema.GroupVersionKind
	host                              tenant.Host
}

// checkClusterAPI finds out which kinds and versions the management cluster serves, and
// watches them from then on.
func checkClusterAPI(ctx context.Context, s *session) (*step.Obstacle, error) {
	found, missing, err := s.discover(ctx)
	if err != nil {
		return nil, err
	}
	if missing != "" {
		return polled("ClusterAPIMissing", "the management cluster does not serve %s; install Cluster API with the provider of this platform (spec.addons.capi of its ClusterBootstrap)", missing), nil
	}
	s.kinds, s.Status.ControlPlaneHost = found, string(found.host)
	for _, kind := range []schema.GroupVersionKind{found.cluster, found.deployment, found.machine, found.controlPlane, found.infrastructure} {
		if err := s.watch(kind); err != nil {
			return nil, err
		}
	}
	return s.prepareInput(ctx)
}

// watch reports changes of a kind from now on.
func (r *Reconciler) watch(kind schema.GroupVersionKind) error {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	if err := r.Watch(o); err != nil {
		return fmt.Errorf("watch %s: %w", kind.Kind, err)
	}
	return nil
}

// discover returns the kinds, or the first that is not served.
func (s *session) discover(ctx context.Context) (k kinds, missing string, err error) {
	if k.infrastructure, k.template, err = tenant.Kinds(s.provider); err != nil {
		return k, "", &step.Failure{Reason: "NotServed", Message: err.Error()}
	}
	for _, want := range []struct {
		to   *schema.GroupVersionKind
		kind string
	}{{&k.cluster, "Cluster"}, {&k.deployment, "MachineDeployment"}, {&k.set, "MachineSet"}, {&k.machine, "Machine"}} {
		if *want.to, err = s.served(schema.GroupKind{Group: coreGroup, Kind: want.kind}); err != nil || want.to.Empty() {
			return k, coreGroup + " " + want.kind, err
		}
	}
	if k.controlPlane, k.host, missing, err = s.findHost(ctx); err != nil || missing != "" {
		return k, missing, err
	}
	for _, kind := range []schema.GroupVersionKind{k.infrastructure, k.template} {
		if found, err := s.served(kind.GroupKind(), kind.Version); err != nil || found.Empty() {
			return k, kind.GroupVersion().String() + " " + kind.Kind, err
		}
	}
	return k, "", nil
}

// served returns the version of a kind that is served, preferably the given one; empty if
// there is none.
func (r *Reconciler) served(kind schema.GroupKind, versions ...string) (schema.GroupVersionKind, error) {
	if r.missing.has(kind, r.Clock()) {
		return schema.GroupVersionKind{}, nil
	}
	mapping, err := r.Client.RESTMapper().RESTMapping(kind, versions...)
	if meta.IsNoMatchError(err) {
		r.missing.put(kind, r.Clock())
		return schema.GroupVersionKind{}, nil
	}
	if err != nil {
		return schema.GroupVersionKind{}, fmt.Errorf("find out whether %s is served: %w", kind, err)
	}
	return mapping.GroupVersionKind, nil
}

// build builds the objects of the present input.
func (s *session) build() (*step.Obstacle, error) {
	built, err := tenant.Build(s.input)
	var field *tenant.FieldError
	switch {
	case errors.Is(err, tenant.ErrUnresolved):
		return polled("NotResolved", "%s", err), nil
	case errors.As(err, &field):
		return nil, &step.Failure{Reason: "NotServed", Message: err.Error()}
	case err != nil:
		return nil, err
	}
	s.built = built
	s.remark(v1alpha1.ConditionFieldsWithoutEffect, reasonProvider, built.Warnings)
	return nil, nil
}
