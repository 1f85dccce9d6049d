// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/ipam"
)

const (
	// vipSuffix and poolSuffix follow the name of the ClusterBootstrap in those of its
	// IPAllocations.
	vipSuffix  = "-vip"
	poolSuffix = "-lb"
	// defaultPoolSize is the number of addresses of load balancers where the ProviderConfig
	// does not say so.
	defaultPoolSize = 8
)

// demand is a block of addresses that a cluster needs of NetworkPools.
type demand struct {
	name    string // of the IPAllocation
	kind    v1alpha1.IPAllocationType
	count   uint64
	pinned  *ipam.Range // the addresses, where the spec names them
	machine bool        // the address of a machine
	field   string      // of the spec, for messages
}

// demandsOf are the addresses that a cluster needs of NetworkPools: one of each machine, the
// VIP, and the range of its load balancers. Of those that the spec names only what the
// pools would hand out to others is needed.
func demandsOf(cluster string, spec v1alpha1.ClusterBootstrapSpec, machines []Machine, network *v1alpha1.ProviderNetworkSpec) (out []demand) {
	for _, m := range machines {
		out = append(out, demand{name: m.Name, kind: v1alpha1.IPAllocationNodes, count: 1, machine: true})
	}
	vip := demand{name: cluster + vipSuffix, kind: v1alpha1.IPAllocationLoadBalancer, count: 1, field: "spec.network.vip"}
	if a, err := netip.ParseAddr(spec.Network.VIP); err == nil {
		vip.pinned = &ipam.Range{First: a, Last: a}
		out = append(out, vip)
	} else if needsVIP(spec) {
		out = append(out, vip)
	}
	lb := demand{name: cluster + poolSuffix, kind: v1alpha1.IPAllocationLoadBalancer, field: "spec.network.loadBalancerPool"}
	if p := spec.Network.LoadBalancerPool; p != nil {
		if r, err := ipam.NewRange(p.Start, p.End); err == nil {
			lb.pinned, lb.count = &r, r.Size()
			out = append(out, lb)
		}
	} else if r, ok := addressPool(spec); ok {
		lb.pinned, lb.count, lb.field = &r, r.Size(), "spec.addons.loadBalancer.addressPool"
		out = append(out, lb)
	} else if addon.TakesPool(spec) {
		lb.count = poolSize(network)
		out = append(out, lb)
	}
	return out
}

// addressPool is the range of load balancers in the form of MetalLB: two addresses or a CIDR.
func addressPool(spec v1alpha1.ClusterBootstrapSpec) (ipam.Range, bool) {
	text := spec.Addons.LoadBalancer.AddressPool
	if p, err := netip.ParsePrefix(text); err == nil {
		return ipam.Of(p.Masked()), true
	}
	r, err := ipam.ParseRange(text)
	return r, err == nil
}

// needsVIP reports whether a cluster has no endpoint without a VIP that is still to be found.
func needsVIP(spec v1alpha1.ClusterBootstrapSpec) bool {
	return spec.Provider.OnPrem() && spec.Cluster.Topology != v1alpha1.TopologySingleNode && spec.Network.VIP == ""
}

func poolSize(n *v1alpha1.ProviderNetworkSpec) uint64 {
	if n == nil || n.LoadBalancer == nil {
		return defaultPoolSize
	}
	return uint64(cmp.Or(n.LoadBalancer.DefaultPoolSize, defaultPoolSize))
}

// CheckEndpoint refuses a cluster without an endpoint: where addresses come from NetworkPools
// the VIP does too, elsewhere it has to be named.
func CheckEndpoint(spec v1alpha1.ClusterBootstrapSpec, config *v1alpha1.ProviderConfig) error {
	if !needsVIP(spec) || config.Spec.Network.IPAM() {
		return nil
	}
	return &Failure{Reason: "InvalidSpec", Message: fmt.Sprintf("spec.network.vip is required for topology ha on %s: the address or name of the control plane; with spec.network.mode ipam of the ProviderConfig it comes from a NetworkPool", spec.Provider)}
}

// Effective returns the spec of a cluster with the VIP and the range of load balancers that
// come from NetworkPools.
func Effective(cb *v1alpha1.ClusterBootstrap) v1alpha1.ClusterBootstrapSpec {
	spec := *cb.Spec.DeepCopy()
	for _, a := range cb.Status.Allocations {
		switch a.Name {
		case cb.Name + vipSuffix:
			spec.Network.VIP = cmp.Or(spec.Network.VIP, a.StartAddress)
		case cb.Name + poolSuffix:
			if spec.Network.LoadBalancerPool == nil {
				spec.Network.LoadBalancerPool = &v1alpha1.AddressRange{Start: a.StartAddress, End: a.EndAddress}
			}
		}
	}
	return spec
}

// allocationOf returns what a cluster has of a NetworkPool, by the name of the IPAllocation.
func allocationOf(s v1alpha1.ClusterBootstrapStatus, name string) (v1alpha1.BootstrapAllocation, bool) {
	i := slices.IndexFunc(s.Allocations, func(a v1alpha1.BootstrapAllocation) bool { return a.Name == name })
	if i < 0 {
		return v1alpha1.BootstrapAllocation{}, false
	}
	return s.Allocations[i], true
}

// IsMachine reports whether an allocation is the address of a machine.
func IsMachine(cb *v1alpha1.ClusterBootstrap, a v1alpha1.BootstrapAllocation) bool {
	return a.Name != cb.Name+vipSuffix && a.Name != cb.Name+poolSuffix
}
