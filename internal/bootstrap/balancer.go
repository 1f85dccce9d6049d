// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"cmp"
	"context"
	"fmt"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/talos"
)

// balancerSuffix follows the cluster's name in that of a new LoadBalancerRequest.
const balancerSuffix = "-cp-lb"

// BalancerName is the name of the LoadBalancerRequest of a new cluster.
func BalancerName(cluster string) string { return cluster + balancerSuffix }

// Balancer is what a load balancer gets from the spec of its cluster.
type Balancer struct {
	Scheme       v1alpha1.LoadBalancerScheme
	AllowedCIDRs []string
	// AdditionalPorts are those besides the port of the Kubernetes API.
	AdditionalPorts []int32
}

// balancer always listens for the Talos API too: of machines without a public address
// it is the only way in.
func balancer(spec *v1alpha1.ControlPlaneLoadBalancerSpec) Balancer {
	b := Balancer{Scheme: v1alpha1.SchemeInternetFacing, AdditionalPorts: []int32{talos.APIPort}}
	if spec != nil {
		b.Scheme, b.AllowedCIDRs = cmp.Or(spec.Scheme, b.Scheme), spec.AllowedCIDRs
	}
	return b
}

// requestLoadBalancer creates the LoadBalancerRequest of the control plane, where the
// plan has one. It waits for nothing: the platform works on the load balancer while the
// machines come up.
func requestLoadBalancer(ctx context.Context, s *Session) (*Obstacle, error) {
	if s.Plan.EndpointKind != EndpointLoadBalancer {
		return nil, nil
	}
	request, err := s.ensureBalancer(ctx)
	if err != nil || request == nil {
		return nil, err
	}
	if request.Annotations[v1alpha1.AnnotationClusterID] != s.clusterID() {
		return nil, &Failure{Reason: "NameTaken", Message: fmt.Sprintf("LoadBalancerRequest %s/%s belongs to another cluster; delete it if that cluster is gone", request.Namespace, request.Name)}
	}
	s.endpoint.request, s.endpoint.loadBalancer = request, request.Status.Endpoint
	return nil, s.updateBalancer(ctx, request.Spec.Targets)
}

// registerTargets makes the control planes that have an address targets of the load
// balancer.
func registerTargets(ctx context.Context, s *Session) (*Obstacle, error) {
	if s.endpoint.request == nil {
		return nil, nil
	}
	targets, err := s.targets(ctx)
	if err != nil {
		return nil, err
	}
	return nil, s.updateBalancer(ctx, targets)
}

// updateBalancer writes what may change of the request, where it has changed.
func (s *Session) updateBalancer(ctx context.Context, targets []v1alpha1.LoadBalancerTarget) error {
	request, wanted := s.endpoint.request, s.balancerSpec(targets)
	before := request.DeepCopy()
	request.Spec.Targets, request.Spec.AllowedCIDRs, request.Spec.AdditionalPorts = wanted.Targets, wanted.AllowedCIDRs, wanted.AdditionalPorts
	if equality.Semantic.DeepEqual(before.Spec, request.Spec) {
		return nil
	}
	return s.Client.Patch(ctx, request, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// failedBalancer is why a load balancer will not serve the machines that come up.
func (s *Session) failedBalancer() *Obstacle {
	if r := s.endpoint.request; r != nil && r.Status.Phase == v1alpha1.LoadBalancerFailed {
		return balancerObstacle(r)
	}
	return nil
}

// awaitLoadBalancer follows the load balancer until it has an endpoint, which the
// configuration of every machine contains. Later failures show at the endpoint.
func awaitLoadBalancer(_ context.Context, s *Session) (*Obstacle, error) {
	switch request := s.endpoint.request; {
	case s.Plan.EndpointKind != EndpointLoadBalancer:
		return nil, nil
	case request == nil:
		return balancerGone(), nil
	case s.endpoint.loadBalancer != "" && request.Status.Phase != v1alpha1.LoadBalancerFailed:
		return nil, nil
	default:
		return balancerObstacle(request), nil
	}
}

// balancerSpec is the load balancer that is wanted, with these targets.
func (s *Session) balancerSpec(targets []v1alpha1.LoadBalancerTarget) v1alpha1.LoadBalancerRequestSpec {
	key, b := s.ProviderConfig(), s.Plan.Balancer
	return v1alpha1.LoadBalancerRequestSpec{
		ClusterName:       s.Spec.Cluster.Name,
		ProviderConfigRef: v1alpha1.ProviderReference{Namespace: key.Namespace, Name: key.Name},
		Port:              APIServerPort,
		AdditionalPorts:   b.AdditionalPorts,
		Scheme:            b.Scheme,
		AllowedCIDRs:      b.AllowedCIDRs,
		Targets:           targets,
	}
}

// ensureBalancer returns the request, or none if it was there and is gone: another load
// balancer would have another endpoint.
func (s *Session) ensureBalancer(ctx context.Context) (*v1alpha1.LoadBalancerRequest, error) {
	request, err := s.findBalancer(ctx)
	switch {
	case apierrors.IsNotFound(err) && s.Status.ControlPlaneEndpoint != "":
		return nil, nil
	case apierrors.IsNotFound(err):
		return s.createBalancer(ctx, request.Name, s.balancerSpec(nil))
	}
	return request, err
}

// findBalancer returns the request of this cluster, which keeps the name that it has:
// another release may have named it differently. Without one it returns the request
// of another cluster that has its name, or that name with an error of NotFound.
func (s *Session) findBalancer(ctx context.Context) (*v1alpha1.LoadBalancerRequest, error) {
	request := &v1alpha1.LoadBalancerRequest{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: BalancerName(s.Spec.Cluster.Name)}}
	err := s.find(ctx, request)
	if client.IgnoreNotFound(err) != nil || request.Annotations[v1alpha1.AnnotationClusterID] == s.clusterID() {
		return request, err
	}
	own, listErr := s.own(ctx, &v1alpha1.LoadBalancerRequestList{})
	if listErr != nil {
		return nil, listErr
	}
	if len(own) > 0 {
		return own[0].(*v1alpha1.LoadBalancerRequest), nil
	}
	return request, err
}

func (s *Session) createBalancer(ctx context.Context, name string, spec v1alpha1.LoadBalancerRequestSpec) (*v1alpha1.LoadBalancerRequest, error) {
	r := &v1alpha1.LoadBalancerRequest{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name}, Spec: spec}
	s.mark(r)
	r.Annotations[v1alpha1.AnnotationOwnerID] = uuid.NewString()
	return r, s.Client.Create(ctx, r, client.FieldOwner(fieldOwner)) // admission knows by it who minted the id
}

// targets are the control planes that have an address and take what the load balancer
// passes on, named in every way that a platform may want.
func (s *Session) targets(ctx context.Context) (out []v1alpha1.LoadBalancerTarget, err error) {
	for _, m := range s.controlPlanes() {
		r := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: m.Name}}
		err := s.find(ctx, r)
		if apierrors.IsNotFound(err) || err == nil && m.IPAddress == "" {
			continue // it is lost, or has no address yet
		}
		if err != nil {
			return nil, err
		}
		target := v1alpha1.LoadBalancerTarget{IP: m.IPAddress, InstanceID: r.Status.ProviderID, InstanceName: r.Spec.MachineName}
		if s.takesPackets(m, target) {
			out = append(out, target)
		}
	}
	return out, nil
}

func balancerGone() *Obstacle {
	return &Obstacle{
		Reason:  "LoadBalancerRequestDeleted",
		Message: "the LoadBalancerRequest of the control planes was deleted and is not created again; destroy the cluster and create it again",
	}
}

func balancerObstacle(r *v1alpha1.LoadBalancerRequest) *Obstacle {
	phase := r.Status.Phase
	if phase == "" {
		phase = v1alpha1.LoadBalancerPending
	}
	message := fmt.Sprintf("load balancer %s is %s", r.Name, phase)
	if c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionReady); c != nil && c.Message != "" {
		message += ": " + c.Message
	}
	return &Obstacle{Reason: "WaitingForLoadBalancer", Message: message, Urgent: phase == v1alpha1.LoadBalancerFailed}
}
