// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
)

// Lookup returns the IPv4 addresses of a name.
type Lookup func(ctx context.Context, name string) ([]netip.Addr, error)

// LookupWith returns a Lookup that queries a resolver.
func LookupWith(r *net.Resolver) Lookup {
	return func(ctx context.Context, name string) ([]netip.Addr, error) {
		return r.LookupNetIP(ctx, "ip4", strings.TrimSuffix(name, ".")+".")
	}
}

const (
	lookupTimeout = 5 * time.Second
	// addressPatience is after what time a Service without an address is a matter of the
	// management cluster.
	addressPatience = 20 * time.Second
)

// pinAddress sets the address of a control plane whose load balancer has a name instead: neither
// Steward nor Kamaji takes names. The addresses of a network load balancer are constant, and one
// that was set is kept, whichever the name server lists first.
func (s *session) pinAddress(ctx context.Context, found *unstructured.Unstructured) (*step.Obstacle, error) {
	s.input.ServiceAddress = text(found, "spec", "network", "serviceAddress")
	if s.input.ServiceAddress != "" || s.input.Endpoint != nil || s.input.Mode() != v1alpha1.ExposureLoadBalancer {
		return nil, nil
	}
	service, err := s.follow(ctx, services, s.key(s.Name))
	if err != nil || service == nil {
		return nil, err
	}
	all, _, _ := unstructured.NestedSlice(service.Object, "status", "loadBalancer", "ingress")
	for _, each := range all {
		i, _ := each.(map[string]any)
		if name, _ := i["hostname"].(string); name != "" && i["ip"] == nil {
			return s.resolveName(ctx, name), nil
		}
	}
	if left := addressPatience - s.Clock().Sub(service.GetCreationTimestamp().Time); len(all) == 0 && left > 0 {
		s.lookWithin(left)
	} else {
		s.unassigned = len(all) == 0
	}
	return nil, nil
}

func (s *session) resolveName(ctx context.Context, name string) *step.Obstacle {
	if strings.HasSuffix(name, ".elb.amazonaws.com") {
		return polled("WaitingForEndpoint", "the control plane has the classic load balancer %s, whose addresses change; it has to be a network load balancer, which annotation %s of its Service asks for", name, "service.beta.kubernetes.io/aws-load-balancer-type: nlb")
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	all, err := s.Lookup(ctx, name)
	if err != nil || len(all) == 0 {
		return polled("WaitingForEndpoint", "the control plane has load balancer %s, whose name has no address yet%s", name, step.Because(err))
	}
	s.input.ServiceAddress = slices.MinFunc(all, netip.Addr.Compare).Unmap().String()
	return nil
}

// whyNoAddress explains a control plane that waits for an address.
func (s *session) whyNoAddress(found *unstructured.Unstructured) string {
	if !s.unassigned {
		return trouble(found)
	}
	return fmt.Sprintf(": Service %s/%s has none; the load balancers of the management cluster give it one, on premises from network.loadBalancerPool of its ClusterBootstrap, which may be missing or used up", s.input.Namespace, s.Name)
}
