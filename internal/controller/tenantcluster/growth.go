// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ipam"
	"github.com/butlerdotdev/butler/internal/step"
)

// demandAfter is how long a Service waits for an address before it counts: the load balancer
// may be about to give it one.
const demandAfter = 30 * time.Second

// growAddresses allocates another increment for load balancers when Services wait for an
// address and none is left. It follows demand alone, and never gives back: ranges that follow
// a share of what is used grow and shrink in turns.
func growAddresses(ctx context.Context, s *session) (*step.Obstacle, error) {
	b := s.balancerBlock()
	if !s.elastic() || b.pinned != nil {
		return nil, nil
	}
	have, o, err := s.allocations(ctx, b)
	if err != nil || o != nil {
		return nil, err // reserveAddresses reports it
	}
	waiting, used, err := s.serviceDemand(ctx)
	if err != nil {
		return nil, nil //nolint:nilerr // the next walk asks again
	}
	size := uint64(0)
	for _, a := range have {
		size += uint64(max(a.Spec.Count, 1))
	}
	if waiting == 0 || size >= used+waiting {
		return nil, nil
	}
	return nil, s.grow(ctx, b, size, used+waiting)
}

func (s *session) elastic() bool {
	return s.Spec.Addons.LoadBalancer != nil && s.provider.Spec.Network.IPAM() && s.loadBalancer().AllocationMode == v1alpha1.AllocationElastic
}

// grow allocates whole increments, up to the quota.
func (s *session) grow(ctx context.Context, b block, size, need uint64) error {
	increment := uint64(s.loadBalancer().GrowthIncrement)
	b.want = size + (need-size+increment-1)/increment*increment
	if b.most != nil {
		b.want = min(b.want, uint64(*b.most))
	}
	if b.want <= size {
		s.lack(reported(reasonAddressQuota, "Services of the tenant need %d addresses, and network.quotaPerTenant.maxLoadBalancerIPs of ProviderConfig %s is %d; raise it, or delete Services", need, s.provider.Name, *b.most))
		return nil
	}
	o, err := s.assign(ctx, []block{b})
	s.lack(o)
	if err == nil && o != nil && o.Reason == reasonAddresses {
		s.Recorder.Eventf(s.TenantCluster, nil, corev1.EventTypeNormal, "AddressesGrow", action, "load balancers have %d addresses and Services need %d; %d more are allocated", size, need, b.want-size)
	}
	return err
}

// serviceDemand counts the Services of the tenant that wait for an address, and the addresses
// of the cluster's ranges that Services have.
func (s *session) serviceDemand(ctx context.Context) (waiting, used uint64, err error) {
	all, err := s.remote.Balancers(ctx)
	if err != nil {
		return 0, 0, err
	}
	has := map[netip.Addr]bool{}
	for _, service := range all {
		switch age := s.Clock().Sub(service.CreationTimestamp.Time); {
		case len(service.Status.LoadBalancer.Ingress) > 0:
		case age >= demandAfter:
			waiting++
		default:
			s.lookWithin(demandAfter - age)
		}
		for _, ingress := range service.Status.LoadBalancer.Ingress {
			if a, err := netip.ParseAddr(ingress.IP); err == nil && s.isBalancer(a) {
				has[a] = true
			}
		}
	}
	return waiting, uint64(len(has)), nil
}

// isBalancer reports whether an address is one of the cluster's load balancers.
func (s *session) isBalancer(a netip.Addr) bool {
	for _, block := range ofType(s.Status.Allocations, v1alpha1.IPAllocationLoadBalancer) {
		if r, err := ipam.NewRange(block.StartAddress, block.EndAddress); err == nil && r.Contains(ipam.Single(a)) {
			return true
		}
	}
	return false
}
