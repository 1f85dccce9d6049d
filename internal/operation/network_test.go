// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/manifest"
)

// withPools is the example with a NetworkPool, with some words replaced.
func withPools(t *testing.T, old, replacement string) (*manifest.Manifest, error) {
	t.Helper()
	data, err := os.ReadFile("../../configs/examples/harvester-ha-ipam.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		t.Fatalf("the example has no %q", old)
	}
	return manifest.Parse("c.yaml", []byte(strings.Replace(string(data), old, replacement, 1)), Plannable)
}

func TestManifestWhoseAddressesDoNotFitIsRefusedWithItsLine(t *testing.T) {
	const network = "    serviceCIDR: 10.96.0.0/12\n"
	for name, c := range map[string]struct{ old, new, want string }{
		"too small":    {"end: 10.40.0.99", "end: 10.40.0.39", "c.yaml:46: the cluster needs 23 addresses, 16 of them in one block, and NetworkPool management has 20 of 20 free, at most 20 in one block; add a range"},
		"gateway":      {"gateway: 10.40.0.1", "gateway: 10.40.1.1", "c.yaml:22: spec.network.gateway: 10.40.1.1 of ProviderConfig harvester-prod is not in the network of NetworkPool management, 10.40.0.0/24"},
		"outside":      {"start: 10.40.0.20", "start: 10.39.0.20", "NetworkPool management: range 10.39.0.20-10.40.0.99 is not in the network 10.40.0.0/24"},
		"VIP":          {network, network + "    vip: 10.41.0.9\n", "spec.network.vip: 10.41.0.9 is no address of the network of NetworkPool management"},
		"partly":       {network, network + "    loadBalancerPool: {start: 10.40.0.90, end: 10.40.0.110}\n", "spec.network.loadBalancerPool: 10.40.0.90-10.40.0.110 is partly in the ranges of NetworkPool management"},
		"pod network":  {"podCIDR: 10.244.0.0/16", "podCIDR: 10.40.0.0/16", "spec.network.podCIDR: 10.40.0.0/16 overlaps with NetworkPool management"},
		"two networks": {"      - name: management\n", "      - name: management\n      - name: other\n", ""},
	} {
		_, err := withPools(t, c.old, c.new)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEndpointMayBeLeftOutWithPoolsOnly(t *testing.T) {
	if _, err := parse(t, "    vip: \"10.40.0.200\"\n", "", Plannable); err == nil || !strings.Contains(err.Error(), "spec.network.vip: is required for topology ha on harvester") {
		t.Error(err)
	}
}

func TestPlanAndAddonsHaveTheAddressesOfThePool(t *testing.T) {
	m, err := withPools(t, "10.40.0.99", "10.40.0.98")
	if err != nil {
		t.Fatal(err)
	}
	spec := Effective(m)
	if got := spec.Network; got.VIP == "" || got.LoadBalancerPool == nil || got.LoadBalancerPool.Start != "10.40.0.20" || got.LoadBalancerPool.End != "10.40.0.35" {
		t.Errorf("%+v", got)
	}
	if m.Cluster.Spec.Network.VIP != "" || m.Cluster.Status.Allocations != nil {
		t.Error("the manifest itself has changed")
	}
	addons, err := AddonsOf(m)
	if err != nil || !slices.ContainsFunc(addons, func(a addon.Addon) bool { return a.Key == addon.MetalLB }) {
		t.Errorf("%v, %v", addons, err)
	}
	plan, err := bootstrap.NewPlan(spec)
	if err != nil {
		t.Fatal(err)
	}
	specs, err := machineSpecs(m, plan)
	if err != nil || len(specs) != 6 || specs[0].Network == nil || specs[0].Network.Address.String() != "10.40.0.36/24" || specs[5].Network.Gateway.String() != "10.40.0.1" {
		t.Errorf("%+v, %v", specs, err)
	}
}

func TestRangeOfLoadBalancersIsKnownToComeFromAPoolOnThePlane(t *testing.T) {
	m, err := withPools(t, "      - name: management\n", "      - name: elsewhere\n      - name: management\n")
	if err != nil {
		t.Fatal(err)
	}
	addons, err := AddonsOf(m)
	if err != nil || !slices.ContainsFunc(addons, func(a addon.Addon) bool { return a.Key == addon.MetalLB }) {
		t.Errorf("%v, %v", addons, err)
	}
}
