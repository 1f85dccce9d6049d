// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/talos"
)

func networkPool(name, cidr string, ranges ...v1alpha1.AddressRange) v1alpha1.NetworkPool {
	p := v1alpha1.NetworkPool{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.NetworkPoolSpec{CIDR: cidr}}
	if len(ranges) > 0 {
		p.Spec.TenantAllocation = &v1alpha1.TenantAllocation{Ranges: ranges}
	}
	return p
}

func poolsOf(all ...v1alpha1.NetworkPool) Pools {
	config := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "site"}, Spec: v1alpha1.ProviderConfigSpec{
		Network: &v1alpha1.ProviderNetworkSpec{Mode: v1alpha1.NetworkModeIPAM, Gateway: "10.40.0.1"},
	}}
	for _, p := range all {
		config.Spec.Network.PoolRefs = append(config.Spec.Network.PoolRefs, v1alpha1.NetworkPoolReference{Name: p.Name})
	}
	return Pools{Config: config, All: all}
}

func haFromPools() *v1alpha1.ClusterBootstrap {
	cb := &v1alpha1.ClusterBootstrap{ObjectMeta: metav1.ObjectMeta{Name: "mgmt"}, Spec: ha(v1alpha1.ProviderHarvester, "")}
	cb.Spec.Cluster.ControlPlane.Replicas, cb.Spec.Cluster.Workers.Replicas = 3, 2
	cb.Spec.Network.LoadBalancerPool = nil
	return cb
}

func addresses(from, to string) v1alpha1.AddressRange {
	return v1alpha1.AddressRange{Start: from, End: to}
}

// placed is what Prospect answers, as "name pool first-last".
func placed(t *testing.T, p Pools, cb *v1alpha1.ClusterBootstrap) (out []string) {
	t.Helper()
	all, err := p.Prospect(cb)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		text := a.Name + " " + a.Pool + " " + a.StartAddress
		if a.EndAddress != a.StartAddress {
			text += "-" + a.EndAddress
		}
		out = append(out, text)
	}
	return out
}

func TestEveryMachineVIPAndLoadBalancerGetsAddressesOfThePool(t *testing.T) {
	want := []string{
		"mgmt-lb lan 10.40.0.10-10.40.0.17", "dev-cp-0 lan 10.40.0.18", "dev-cp-1 lan 10.40.0.19", "dev-cp-2 lan 10.40.0.20",
		"dev-w-0 lan 10.40.0.21", "dev-w-1 lan 10.40.0.22", "mgmt-vip lan 10.40.0.23",
	}
	p := poolsOf(networkPool("lan", "10.40.0.0/24", addresses("10.40.0.10", "10.40.0.60")))
	if diff := cmp.Diff(want, placed(t, p, haFromPools())); diff != "" {
		t.Error(diff)
	}
}

func TestPoolsAreTakenByPriorityAmongThoseInWhichItFits(t *testing.T) {
	p := poolsOf(networkPool("first", "10.40.0.0/24", addresses("10.40.0.10", "10.40.0.12")), networkPool("second", "10.40.0.0/24", addresses("10.40.0.100", "10.40.0.120")))
	p.Config.Spec.Network.PoolRefs[0].Priority = 1
	p.Config.Spec.Network.PoolRefs[1].Priority = 2
	p.Config.Spec.Network.LoadBalancer = &v1alpha1.ProviderLoadBalancerSpec{DefaultPoolSize: 4}
	want := []string{
		"mgmt-lb second 10.40.0.100-10.40.0.103", "dev-cp-0 first 10.40.0.10", "dev-cp-1 first 10.40.0.11", "dev-cp-2 first 10.40.0.12",
		"dev-w-0 second 10.40.0.104", "dev-w-1 second 10.40.0.105", "mgmt-vip second 10.40.0.106",
	}
	if diff := cmp.Diff(want, placed(t, p, haFromPools())); diff != "" {
		t.Error(diff)
	}
}

func TestAddressesOfTheSpecAreKeptFromOthers(t *testing.T) {
	cb := haFromPools()
	cb.Spec.Network.VIP, cb.Spec.Network.LoadBalancerPool = "10.40.0.11", &v1alpha1.AddressRange{Start: "10.40.0.200", End: "10.40.0.210"}
	p := poolsOf(networkPool("lan", "10.40.0.0/24", addresses("10.40.0.10", "10.40.0.60")))
	want := []string{
		"mgmt-vip lan 10.40.0.11", "dev-cp-0 lan 10.40.0.10", "dev-cp-1 lan 10.40.0.12", "dev-cp-2 lan 10.40.0.13", "dev-w-0 lan 10.40.0.14", "dev-w-1 lan 10.40.0.15",
	}
	if diff := cmp.Diff(want, placed(t, p, cb)); diff != "" {
		t.Error(diff)
	}
}

func TestAddressPoolOfTheAddonIsKeptFromOthers(t *testing.T) {
	for _, text := range []string{"10.40.0.12-10.40.0.15", "10.40.0.12/30"} {
		cb := haFromPools()
		cb.Spec.Addons.LoadBalancer.AddressPool = text
		p := poolsOf(networkPool("lan", "10.40.0.0/24", addresses("10.40.0.10", "10.40.0.60")))
		if got := placed(t, p, cb); got[0] != "mgmt-lb lan 10.40.0.12-10.40.0.15" || slices.Contains(got, "dev-cp-2 lan 10.40.0.12") {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestSingleNodeHasNoVIP(t *testing.T) {
	cb := haFromPools()
	cb.Spec.Cluster.Topology = v1alpha1.TopologySingleNode
	cb.Spec.Addons.LoadBalancer.Enabled = new(false)
	want := []string{"dev-cp-0 lan 10.40.0.10"}
	if diff := cmp.Diff(want, placed(t, poolsOf(networkPool("lan", "10.40.0.0/24", addresses("10.40.0.10", "10.40.0.10"))), cb)); diff != "" {
		t.Error(diff)
	}
}

func TestNetworkThatCannotWorkIsRefusedWithWhatToDo(t *testing.T) {
	lan := func() v1alpha1.NetworkPool {
		return networkPool("lan", "10.40.0.0/24", addresses("10.40.0.10", "10.40.0.60"))
	}
	for name, tc := range map[string]struct {
		change       func(*v1alpha1.ClusterBootstrap, *Pools)
		reason, says string
	}{
		"pool is missing": {func(_ *v1alpha1.ClusterBootstrap, p *Pools) { p.All = nil }, reasonPoolMissing, "NetworkPool lan of ProviderConfig site does not exist; create it"},
		"pool is being deleted": {func(_ *v1alpha1.ClusterBootstrap, p *Pools) {
			p.All[0].DeletionTimestamp = &metav1.Time{}
			p.All[0].DeletionTimestamp.Time = p.All[0].DeletionTimestamp.Add(1)
		}, reasonPoolMissing, "does not exist"},
		"pool is invalid":                  {func(_ *v1alpha1.ClusterBootstrap, p *Pools) { p.All[0].Spec.CIDR = "10.41.0.0/24" }, reasonPoolInvalid, "NetworkPool lan: range 10.40.0.10-10.40.0.60 is not in the network 10.41.0.0/24"},
		"gateway of another network":       {func(_ *v1alpha1.ClusterBootstrap, p *Pools) { p.Config.Spec.Network.Gateway = "10.41.0.1" }, reasonNetwork, "spec.network.gateway 10.41.0.1 of ProviderConfig site is not in the network of NetworkPool lan, 10.40.0.0/24"},
		"gateway is the broadcast address": {func(_ *v1alpha1.ClusterBootstrap, p *Pools) { p.Config.Spec.Network.Gateway = "10.40.0.255" }, reasonNetwork, "network or broadcast address"},
		"pods in the network":              {func(cb *v1alpha1.ClusterBootstrap, _ *Pools) { cb.Spec.Network.PodCIDR = "10.40.0.0/16" }, reasonNetwork, "spec.network.podCIDR 10.40.0.0/16 overlaps"},
		"pools of two networks": {func(_ *v1alpha1.ClusterBootstrap, p *Pools) {
			*p = poolsOf(lan(), networkPool("wan", "10.41.0.0/24"))
		}, reasonNetwork, "are of several networks"},
		"pools overlap": {func(_ *v1alpha1.ClusterBootstrap, p *Pools) {
			*p = poolsOf(lan(), networkPool("more", "10.40.0.0/24", addresses("10.40.0.60", "10.40.0.70")))
		}, reasonPoolOverlap, "NetworkPools lan, 10.40.0.0/24, and more, 10.40.0.0/24, have addresses in common"},
		"pool of another ProviderConfig overlaps": {func(_ *v1alpha1.ClusterBootstrap, p *Pools) {
			p.All = append(p.All, networkPool("other", "10.40.0.0/16"))
		}, reasonPoolOverlap, "other, 10.40.0.0/16"},
		"VIP of another network": {func(cb *v1alpha1.ClusterBootstrap, _ *Pools) { cb.Spec.Network.VIP = "10.41.0.9" }, reasonNetwork, "spec.network.vip 10.41.0.9 is not an address of the network"},
		"VIP is the gateway":     {func(cb *v1alpha1.ClusterBootstrap, _ *Pools) { cb.Spec.Network.VIP = "10.40.0.1" }, reasonNetwork, "is the gateway or a server"},
		"VIP of a machine": {func(cb *v1alpha1.ClusterBootstrap, p *Pools) {
			cb.Spec.Network.VIP = "10.40.0.11"
			p.Claims = claims("10.40.0.11")
		}, reasonNetwork, "spec.network.vip 10.40.0.11 is allocated, or rests, in NetworkPool lan (IPAllocation holder); choose free addresses"},
		"VIP of another cluster, of a pool that this one does not use": {func(cb *v1alpha1.ClusterBootstrap, p *Pools) {
			cb.Spec.Network.VIP = "10.40.0.100"
			p.Claims = claims("10.40.0.100")
			p.Claims[0].Spec.PoolRef.Name, p.Claims[0].Spec.AllocationRef.Namespace = "others", "elsewhere"
		}, reasonNetwork, "spec.network.vip 10.40.0.100 is allocated, or rests, in NetworkPool others (IPAllocation elsewhere/holder); choose free addresses"},
		"range with addresses of another cluster": {func(cb *v1alpha1.ClusterBootstrap, p *Pools) {
			cb.Spec.Network.LoadBalancerPool = &v1alpha1.AddressRange{Start: "10.40.0.20", End: "10.40.0.30"}
			p.Claims = claims("10.40.0.30")
		}, reasonNetwork, "spec.network.loadBalancerPool 10.40.0.20-10.40.0.30 has addresses that are allocated, or rest, in NetworkPool lan (IPAllocation holder)"},
		"range partly in a pool": {func(cb *v1alpha1.ClusterBootstrap, _ *Pools) {
			cb.Spec.Network.LoadBalancerPool = &v1alpha1.AddressRange{Start: "10.40.0.50", End: "10.40.0.70"}
		}, reasonNetwork, "spec.network.loadBalancerPool 10.40.0.50-10.40.0.70 is partly in the ranges of NetworkPool lan; add it to spec.reserved"},
		"pool is too small": {func(_ *v1alpha1.ClusterBootstrap, p *Pools) {
			p.All[0].Spec.TenantAllocation.Ranges[0].End = "10.40.0.20"
		}, reasonPoolTooSmall, "the cluster needs 14 addresses, 8 of them in one block, and NetworkPool lan has 11 of 11 free, at most 11 in one block; add a range"},
		"pool is exhausted": {func(_ *v1alpha1.ClusterBootstrap, p *Pools) {
			p.All[0].Spec.TenantAllocation.Ranges[0].End = "10.40.0.10"
			p.Claims = claims("10.40.0.10")
		}, reasonPoolTooSmall, "lan has 0 of 1 free"},
		"no block is large enough": {func(_ *v1alpha1.ClusterBootstrap, p *Pools) {
			p.All[0].Spec.Reserved = []v1alpha1.ReservedRange{{CIDR: "10.40.0.16/32"}, {CIDR: "10.40.0.24/32"}, {CIDR: "10.40.0.32/32"}, {CIDR: "10.40.0.40/32"}, {CIDR: "10.40.0.48/32"}, {CIDR: "10.40.0.56/32"}}
		}, reasonPoolTooSmall, "at most 7 in one block"},
	} {
		t.Run(name, func(t *testing.T) {
			cb, p := haFromPools(), poolsOf(lan())
			tc.change(cb, &p)
			_, err := p.Prospect(cb)
			var wrong *PoolError
			if !errors.As(err, &wrong) || wrong.Reason != tc.reason || !strings.Contains(wrong.Message, tc.says) {
				t.Errorf("%+v", err)
			}
		})
	}
}

func claims(all ...string) (out []v1alpha1.AddressClaim) {
	for _, a := range all {
		out = append(out, v1alpha1.AddressClaim{Spec: v1alpha1.AddressClaimSpec{Address: a, AllocationRef: v1alpha1.NamespacedReference{Name: "holder"}}})
	}
	return out
}

func TestEndpointIsRequiredWithoutPools(t *testing.T) {
	cb, p := haFromPools(), poolsOf(networkPool("lan", "10.40.0.0/24"))
	if err := CheckEndpoint(cb.Spec, p.Config); err != nil {
		t.Error(err)
	}
	p.Config.Spec.Network = nil
	if err := CheckEndpoint(cb.Spec, p.Config); err == nil || !strings.Contains(err.Error(), "spec.network.vip is required") {
		t.Error(err)
	}
	cb.Spec.Cluster.Topology = v1alpha1.TopologySingleNode
	if err := CheckEndpoint(cb.Spec, p.Config); err != nil {
		t.Error(err)
	}
}

func TestEffectiveSpecHasWhatWasAllocatedUnlessItIsNamed(t *testing.T) {
	cb := haFromPools()
	cb.Status.Allocations = []v1alpha1.BootstrapAllocation{
		{Name: "mgmt-vip", StartAddress: "10.40.0.23", EndAddress: "10.40.0.23"}, {Name: "mgmt-lb", StartAddress: "10.40.0.10", EndAddress: "10.40.0.17"},
	}
	got := Effective(cb).Network
	if got.VIP != "10.40.0.23" || *got.LoadBalancerPool != addresses("10.40.0.10", "10.40.0.17") || cb.Spec.Network.VIP != "" {
		t.Errorf("%+v", got)
	}
	cb.Spec.Network.VIP = "api.example.com"
	if got := Effective(cb).Network; got.VIP != "api.example.com" {
		t.Errorf("%+v", got)
	}
}

func TestMachineIsRequestedAndConfiguredWithItsAddress(t *testing.T) {
	status := v1alpha1.ClusterBootstrapStatus{Allocations: []v1alpha1.BootstrapAllocation{{Name: "dev-cp-0", CIDR: "10.40.0.0/24", StartAddress: "10.40.0.18", EndAddress: "10.40.0.18"}}}
	network := &v1alpha1.ProviderNetworkSpec{Gateway: "10.40.0.1", DNSServers: []string{"10.40.0.2"}, TimeServers: []string{"time.example.com"}}
	got := MachineNetwork(status, "dev-cp-0", network)
	want := &v1alpha1.MachineNetwork{Address: "10.40.0.18/24", Gateway: "10.40.0.1", DNSServers: []string{"10.40.0.2"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	configured := talos.Static{
		Address: netip.MustParsePrefix("10.40.0.18/24"), Gateway: netip.MustParseAddr("10.40.0.1"), DNS: []netip.Addr{netip.MustParseAddr("10.40.0.2")},
		Time: []string{"time.example.com"}, MAC: "02:00:00:00:00:01",
	}
	if diff := cmp.Diff(configured, static(got, network.TimeServers, "02:00:00:00:00:01"), cmp.Comparer(func(a, b netip.Addr) bool { return a == b }), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
	if other := MachineNetwork(status, "dev-w-0", network); other != nil || static(other, network.TimeServers, "").Address.IsValid() {
		t.Errorf("%+v", other)
	}
}
