// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"cmp"
	"fmt"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/ipam"
	"github.com/butlerdotdev/butler/internal/step"
)

const (
	// spareNodes are the workers that a rollout has beside those of the spec: a new one runs
	// before an old one goes.
	spareNodes = 1
	// The defaults of a ProviderConfig without network.loadBalancer.
	defaultPoolSize, defaultInitialSize, defaultIncrement = 8, 2, 2
)

// block is how many addresses of one type a cluster needs of NetworkPools. It is made of one
// IPAllocation, and further ones when it needs more.
type block struct {
	kind   v1alpha1.IPAllocationType
	base   string // the name of the first IPAllocation
	want   uint64
	pinned *ipam.Range // the addresses, where the spec names them
	most   *int32      // by the quota
	limit  string      // the field of the quota
	what   string      // needs the addresses
}

func (b block) name(number int) string {
	if number == 1 {
		return b.base
	}
	return fmt.Sprintf("%s-%d", b.base, number)
}

// request is an IPAllocation that is to be created.
type request struct {
	bootstrap.Block

	kind v1alpha1.IPAllocationType
	pool string // empty: it is to be chosen
}

// blocks are the addresses that the cluster needs of NetworkPools: those of workers where the
// platform's provider wants static ones, and those of load balancers.
func (s *session) blocks() (out []block) {
	w := s.Spec.Workers
	if s.provider.Spec.Provider == v1alpha1.ProviderProxmox {
		n := max(w.Replicas, w.MaxReplicas)
		out = append(out, block{
			kind: v1alpha1.IPAllocationNodes, base: tenantNamespace(s.TenantCluster) + "-nodes", want: uint64(n + spareNodes),
			most: s.quota().MaxNodeIPs, limit: "maxNodeIPs", what: fmt.Sprintf("%d workers, and one more while they are replaced,", n),
		})
	}
	if s.Spec.Addons.LoadBalancer != nil {
		out = append(out, s.balancerBlock())
	}
	return out
}

// balancerBlock is that of load balancers, as large as it is at first.
func (s *session) balancerBlock() block {
	b := block{
		kind: v1alpha1.IPAllocationLoadBalancer, base: tenantNamespace(s.TenantCluster) + "-lb", want: s.balancerCount(),
		most: s.quota().MaxLoadBalancerIPs, limit: "maxLoadBalancerIPs", what: "load balancers",
	}
	if p := s.Spec.Networking.LoadBalancerPool; p != nil {
		if r, err := ipam.NewRange(p.Start, p.End); err == nil { // else the builder refuses it
			b.pinned, b.want = &r, r.Size()
		}
	}
	return b
}

func (s *session) balancerCount() uint64 {
	l := s.loadBalancer()
	size := l.DefaultPoolSize
	if l.AllocationMode == v1alpha1.AllocationElastic {
		size = l.InitialPoolSize
	}
	return uint64(cmp.Or(s.Spec.Networking.LBPoolSize, size))
}

// loadBalancer is network.loadBalancer of the ProviderConfig, with defaults.
func (s *session) loadBalancer() v1alpha1.ProviderLoadBalancerSpec {
	l := v1alpha1.ProviderLoadBalancerSpec{}
	if n := s.provider.Spec.Network; n != nil && n.LoadBalancer != nil {
		l = *n.LoadBalancer
	}
	l.DefaultPoolSize = cmp.Or(l.DefaultPoolSize, defaultPoolSize)
	l.InitialPoolSize = cmp.Or(l.InitialPoolSize, defaultInitialSize)
	l.GrowthIncrement = cmp.Or(l.GrowthIncrement, defaultIncrement)
	return l
}

func (s *session) quota() v1alpha1.TenantQuotaSpec {
	if n := s.provider.Spec.Network; n != nil && n.QuotaPerTenant != nil {
		return *n.QuotaPerTenant
	}
	return v1alpha1.TenantQuotaSpec{}
}

// missing are the IPAllocations that a block lacks: lost ones, and one with what it needs
// beyond those that it has. What it has it keeps, whatever the quota is by now.
func (s *session) missing(b block, have []*v1alpha1.IPAllocation) (out []request, o *step.Obstacle) {
	known, size := map[string]bool{}, uint64(0)
	for _, a := range have {
		known[a.Name] = true
		size += uint64(max(a.Spec.Count, 1))
	}
	number := 1
	for ; ; number++ {
		lost, listed := s.listed(b.name(number))
		if !listed && !known[b.name(number)] {
			break
		}
		if r, err := ipam.NewRange(lost.StartAddress, lost.EndAddress); !known[b.name(number)] && err == nil {
			out = append(out, request{bootstrap.Block{Name: lost.Name, Count: r.Size(), Pinned: &r}, b.kind, lost.Pool})
			size += r.Size()
		}
	}
	switch {
	case b.pinned != nil && number > 1:
		return out, s.checkPinned(b)
	case size >= b.want:
		return out, nil
	case b.most != nil && b.want > uint64(*b.most):
		return out, s.overQuota(b)
	}
	more := bootstrap.Block{Name: b.name(number), Count: b.want - size, Pinned: b.pinned, Field: "spec.networking.loadBalancerPool"}
	return append(out, request{more, b.kind, ""}), nil
}

func (s *session) overQuota(b block) *step.Obstacle {
	o := reported(reasonAddressQuota, "%s need %d addresses, and network.quotaPerTenant.%s of ProviderConfig %s is %d; ask for fewer, or raise it", b.what, b.want, b.limit, s.provider.Name, *b.most)
	o.Urgent = true
	return o
}

// checkPinned refuses addresses of the spec that are others than those that were allocated:
// these do not change.
func (s *session) checkPinned(b block) *step.Obstacle {
	has, ok := s.listed(b.name(1))
	r, err := ipam.NewRange(has.StartAddress, has.EndAddress)
	if !ok || err == nil && r == *b.pinned {
		return nil
	}
	o := reported(reasonNetwork, "spec.networking.loadBalancerPool is %s, but %s was allocated from NetworkPool %s and does not change; set it to that, or leave it out", b.pinned, r, has.Pool)
	o.Urgent = true
	return o
}
