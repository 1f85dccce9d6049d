// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"slices"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/registry"
)

// Setup is everything that a simulated platform is started with.
type Setup struct {
	Seed Seed `json:"seed"`
	// Profile names how long things take; see datacenter.ProfileNamed.
	Profile string `json:"profile,omitempty"`
	// Faults say what goes wrong.
	Faults fault.Plan `json:"faults,omitzero"`
	// Routed gives the operator's machine a route to private addresses, as a VPN does.
	Routed bool `json:"routed,omitempty"`
	// BootCommand runs each machine in place of an emulated node.
	BootCommand string `json:"bootCommand,omitempty"`
	// Listen is the address of this machine at which users reach the platform's API; the zero
	// value is loopback.
	Listen netip.Addr `json:"listen,omitzero"`
}

// Seed is what a simulated platform starts with because a manifest names it.
type Seed struct {
	// Platform is what the platform itself has; see facade.Platform.Seed.
	Platform json.RawMessage `json:"platform,omitempty"`
	// Subnet that machines get their addresses from; empty means one of the
	// simulator's own.
	Subnet  string `json:"subnet,omitempty"`
	Gateway string `json:"gateway,omitempty"`
	// NoDHCP leaves the network of the machines without a DHCP server.
	NoDHCP bool `json:"noDHCP,omitempty"`
	// Reserved addresses and ranges are never given to a machine.
	Reserved []v1alpha1.AddressRange `json:"reserved,omitempty"`
	// Artifacts that clusters will ask for, and that stand-ins are served for;
	// without any, the simulated network has no charts.
	Artifacts []registry.Artifact `json:"artifacts,omitempty"`
	// Desired is how many machines there are to be, and no more.
	Desired []audit.Desired `json:"desired,omitempty"`
	// Shared addresses belong to a cluster, and to none of its machines.
	Shared []string `json:"shared,omitempty"`
}

// SeedFor returns what a manifest expects on its platform. Credentials are
// no part of it. In mode ipam the network of the machines is that of a pool, and has no DHCP
// server.
func SeedFor(p facade.Platform, cb *v1alpha1.ClusterBootstrap, pc *v1alpha1.ProviderConfig, pools ...*v1alpha1.NetworkPool) (Seed, error) {
	pc = inPools(pc, pools)
	s := Seed{Reserved: reserved(cb.Spec.Network), Desired: desired(cb.Spec.Cluster)}
	if _, err := netip.ParseAddr(cb.Spec.Network.VIP); err == nil {
		s.Shared = []string{cb.Spec.Network.VIP}
	}
	if n := pc.Spec.Network; n.IPAM() {
		s.Subnet, s.Gateway, s.NoDHCP = n.Subnet, n.Gateway, true
	}
	s.Subnet = cmp.Or(s.Subnet, around(cb.Spec.Network.VIP))
	var err error
	s.Platform, err = json.Marshal(p.Seed(cb, pc))
	return s, err
}

// inPools returns a ProviderConfig of mode ipam with the subnet that its machines are in: that
// of the pool with the gateway in it, else of the first pool. The router of that network is
// not where a wrong gateway says.
func inPools(pc *v1alpha1.ProviderConfig, pools []*v1alpha1.NetworkPool) *v1alpha1.ProviderConfig {
	n := pc.Spec.Network
	if !n.IPAM() {
		return pc
	}
	all := cidrs(n.PoolRefs, pools)
	if len(all) == 0 {
		return pc
	}
	pc = pc.DeepCopy()
	gateway, _ := netip.ParseAddr(n.Gateway)
	i := slices.IndexFunc(all, func(p netip.Prefix) bool { return p.Contains(gateway) })
	if i < 0 {
		pc.Spec.Network.Gateway = ""
	}
	pc.Spec.Network.Subnet = all[max(i, 0)].String()
	return pc
}

// cidrs are the networks of the pools that are referred to, the first to use first.
func cidrs(refs []v1alpha1.NetworkPoolReference, pools []*v1alpha1.NetworkPool) (out []netip.Prefix) {
	refs = slices.Clone(refs)
	slices.SortFunc(refs, func(a, b v1alpha1.NetworkPoolReference) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Name, b.Name))
	})
	for _, r := range refs {
		for _, p := range pools {
			if cidr, err := netip.ParsePrefix(p.Spec.CIDR); err == nil && p.Name == r.Name {
				out = append(out, cidr.Masked())
			}
		}
	}
	return out
}

// desired is how many machines a manifest has.
func desired(c v1alpha1.ClusterSpec) []audit.Desired {
	d := audit.Desired{Cluster: c.Name, Machines: 1}
	if c.Topology != v1alpha1.TopologySingleNode {
		d.Machines = int(c.ControlPlane.Replicas)
		if c.Workers != nil {
			d.Machines += int(c.Workers.Replicas)
		}
	}
	return []audit.Desired{d}
}

func reserved(n v1alpha1.NetworkSpec) (out []v1alpha1.AddressRange) {
	if _, err := netip.ParseAddr(n.VIP); err == nil {
		out = append(out, v1alpha1.AddressRange{Start: n.VIP, End: n.VIP})
	}
	if n.LoadBalancerPool != nil {
		out = append(out, *n.LoadBalancerPool)
	}
	return out
}

// around is the /24 (or /64) that an address lies in.
func around(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return ""
	}
	bits := 24
	if a.Is6() {
		bits = 64
	}
	return netip.PrefixFrom(a, bits).Masked().String()
}
