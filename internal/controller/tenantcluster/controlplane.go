// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/tenant"
)

// key names an object of the cluster in its namespace.
func (s *session) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: s.input.Namespace, Name: name}
}

// applyControlPlane applies the Cluster and the control plane. The infrastructure that the
// Cluster refers to does not exist yet: Cluster API waits for it.
func applyControlPlane(ctx context.Context, s *session) (*step.Obstacle, error) {
	found, err := s.read(ctx, s.kinds.controlPlane, s.key(s.Name))
	if err != nil {
		return nil, err
	}
	if found != nil {
		s.checkSkew(found)
		s.input.Endpoint = endpointOf(found)
	}
	if s.input.Endpoint == nil {
		s.input.Endpoint = tenant.KnownEndpoint(s.input)
	}
	if found != nil {
		if o, err := s.pinAddress(ctx, found); o != nil || err != nil {
			return o, err
		}
	}
	if err := s.locate(ctx, found); err != nil {
		return nil, err
	}
	if o, err := s.build(); o != nil || err != nil {
		return o, err
	}
	if err := s.applyObject(ctx, s.built.Cluster); err != nil {
		return nil, err
	}
	if err := s.applyObject(ctx, s.built.ControlPlane); err != nil || s.built.Konnectivity == nil {
		return nil, err
	}
	k := s.built.Konnectivity
	return nil, s.applyKept(ctx, keptKey{k.GetKind(), s.input.Namespace, k.GetName()}, k.Object, applyConfiguration(k))
}

// checkSkew keeps the version of a control plane that cannot become the requested one.
func (s *session) checkSkew(found *unstructured.Unstructured) {
	is, want := text(found, "status", "version"), s.Spec.KubernetesVersion
	if is == "" || is == want {
		return
	}
	from, to := minor(is), minor(want)
	switch {
	case from < 0 || to < 0 || to == from || to == from+1:
		return
	case to < from:
		s.skew = reported("VersionSkew", "the control plane has %s, which cannot become %s: Kubernetes cannot be downgraded; set spec.kubernetesVersion to %s or later", is, want, is)
	default:
		s.skew = reported("VersionSkew", "the control plane has %s, which cannot become %s at once: upgrade one minor version at a time, next to v1.%d", is, want, from+1)
	}
	s.input.ControlPlaneVersion = text(found, "spec", "version")
}

// minor is the minor number of a version such as v1.32.0; -1 if it is none.
func minor(version string) int {
	parts := strings.Split(version, ".")
	if len(parts) < 2 {
		return -1
	}
	n, err := strconv.Atoi(parts[1])
	if err != nil {
		return -1
	}
	return n
}

// endpointOf is where a control plane says that it is reached; nil while it does not.
func endpointOf(o *unstructured.Unstructured) *tenant.Endpoint {
	host, port := text(o, "spec", "controlPlaneEndpoint", "host"), number(o, "spec", "controlPlaneEndpoint", "port")
	if host == "" || port <= 0 || port > 65535 {
		return nil
	}
	return &tenant.Endpoint{Host: host, Port: int32(port)}
}

// awaitEndpoint waits until the control plane has an address.
func awaitEndpoint(ctx context.Context, s *session) (*step.Obstacle, error) {
	found, err := s.read(ctx, s.kinds.controlPlane, s.key(s.Name))
	if err != nil {
		return nil, err
	}
	if found == nil {
		return reported("WaitingForControlPlane", "%s %s is being created", s.kinds.controlPlane.Kind, s.Name), nil
	}
	s.controlPlane = found
	s.Status.ControlPlaneEndpoint = ""
	if s.input.Endpoint == nil {
		return reported("WaitingForEndpoint", "the control plane has no address yet%s", s.whyNoAddress(found)), nil
	}
	s.Status.ControlPlaneEndpoint = s.input.Endpoint.String()
	return nil, nil
}

// applyInfrastructure applies the infrastructure cluster with the endpoint, and the part of
// its status that its own controller leaves to this one.
func applyInfrastructure(ctx context.Context, s *session) (*step.Obstacle, error) {
	if err := s.applyObject(ctx, s.built.Infrastructure); err != nil {
		return nil, err
	}
	if s.built.Status == nil {
		return nil, nil
	}
	found, err := s.read(ctx, s.kinds.infrastructure, s.key(s.Name))
	if err != nil || found == nil || flag(found, "status", "ready") {
		return nil, err
	}
	err = s.Client.Status().Apply(ctx, applyConfiguration(s.built.Status), client.FieldOwner(Owner), client.ForceOwnership)
	if err != nil {
		return nil, fmt.Errorf("apply the status of %s %s: %w", s.kinds.infrastructure.Kind, s.Name, err)
	}
	return nil, nil
}

// awaitInfrastructure waits until the infrastructure cluster is ready, as the Cluster sees it.
func awaitInfrastructure(ctx context.Context, s *session) (*step.Obstacle, error) {
	cluster, err := s.read(ctx, s.kinds.cluster, s.key(s.Name))
	if err != nil {
		return nil, err
	}
	if cluster != nil && (flag(cluster, "status", "infrastructureReady") || flag(cluster, "status", "initialization", "infrastructureProvisioned")) {
		return nil, nil
	}
	found, err := s.read(ctx, s.kinds.infrastructure, s.key(s.Name))
	if err != nil || found == nil {
		return reported("WaitingForInfrastructure", "%s %s is being created", s.kinds.infrastructure.Kind, s.Name), err
	}
	return reported("WaitingForInfrastructure", "%s %s is not ready%s", s.kinds.infrastructure.Kind, s.Name, trouble(found)), nil
}

// awaitControlPlane waits until the control plane is ready. While it is upgraded, or may not
// be, the cluster is looked after with the version that it has: workers follow later.
func awaitControlPlane(_ context.Context, s *session) (*step.Obstacle, error) {
	is, want := text(s.controlPlane, "status", "version"), s.Spec.KubernetesVersion
	s.observed().KubernetesVersion = is
	switch {
	case s.skew != nil:
		s.upgrading = s.skew
	case is != "" && is != want:
		s.upgrading = reported(reasonUpgrading, "the control plane is being upgraded from %s to %s%s", is, want, trouble(s.controlPlane))
	case !flag(s.controlPlane, "status", "ready"):
		return reported("WaitingForControlPlane", "the control plane is not ready%s", trouble(s.controlPlane)), nil
	default:
		return nil, nil
	}
	s.postpone(v1alpha1.ConditionControlPlaneReady, s.upgrading)
	s.Spec.KubernetesVersion = is
	return nil, nil
}

// connect opens the connection to the tenant's API server, with the kubeconfig that the
// control plane provider renews.
func connect(ctx context.Context, s *session) (*step.Obstacle, error) {
	if o, err := s.dial(ctx); o != nil || err != nil {
		return o, err
	}
	if err := s.answers(ctx); err != nil {
		if s.unexposed != nil {
			return s.unexposed, nil
		}
		return polled("WaitingForKubernetes", "the API server at %s does not answer%s", s.whereTo(ctx), step.Because(err)), nil
	}
	return nil, nil
}

// answers asks the tenant's API server whether it is ready. The kubeconfig of one that does not
// answer may be another one by now.
func (s *session) answers(ctx context.Context) error {
	err := s.remote.Answers(ctx)
	if err != nil {
		s.secrets.forget(tenantNamespace(s.TenantCluster))
	}
	return err
}

// whereTo is the endpoint, with the address that it was looked for at.
func (s *session) whereTo(ctx context.Context) string {
	if via, err := s.route(ctx); err == nil && via.endpoint != "" {
		return via.String()
	}
	return s.Status.ControlPlaneEndpoint
}

// kubeconfigOf is the name of the Secret with the administrator's kubeconfig, as Cluster API
// has it.
func kubeconfigOf(cluster string) string { return cluster + "-kubeconfig" }

func (s *session) dial(ctx context.Context) (*step.Obstacle, error) {
	name := kubeconfigOf(s.Name)
	data, err := s.secret(ctx, name)
	if err != nil {
		return nil, err
	}
	if len(data["value"]) == 0 {
		return polled("WaitingForKubeconfig", "Secret %s has no kubeconfig yet", name), nil
	}
	via, err := s.route(ctx)
	if err != nil {
		return nil, err
	}
	s.Status.KubeconfigSecretRef = &v1alpha1.LocalReference{Name: userKubeconfigOf(s.Name, via)}
	s.remote, err = s.Tenants.Connect(client.ObjectKeyFromObject(s.TenantCluster).String(), data["value"], via)
	return nil, err
}

// observed is the part of the status that says what the cluster is.
func (s *session) observed() *v1alpha1.TenantObservedState {
	if s.Status.ObservedState == nil {
		s.Status.ObservedState = &v1alpha1.TenantObservedState{}
	}
	return s.Status.ObservedState
}
