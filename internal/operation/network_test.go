// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/provider"
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
		"VIP":          {network, network + "    vip: 10.41.0.9\n", "spec.network.vip: 10.41.0.9 is not an address of the network of NetworkPool management"},
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

// TestPreflightKnowsTheAddressesOfOthersOnThePlane has the plane of a cluster, or of several,
// before another one is created on it.
func TestPreflightKnowsTheAddressesOfOthersOnThePlane(t *testing.T) {
	const network, ranges = "    serviceCIDR: 10.96.0.0/12\n", "end: 10.40.0.99"
	claim := func(address string, released bool) client.Object {
		c := &v1alpha1.AddressClaim{ObjectMeta: metav1.ObjectMeta{Name: address}, Spec: v1alpha1.AddressClaimSpec{
			Address: address, PoolRef: v1alpha1.NamespacedReference{Namespace: manifest.Namespace, Name: "management"},
			AllocationRef: v1alpha1.NamespacedReference{Namespace: manifest.Namespace, Name: "other-vip"},
		}}
		if released {
			c.Spec.ReleasedAt = &metav1.Time{Time: time.Now()}
		}
		return c
	}
	pool := func(name, first, last string) client.Object {
		return &v1alpha1.NetworkPool{ObjectMeta: metav1.ObjectMeta{Namespace: manifest.Namespace, Name: name}, Spec: v1alpha1.NetworkPoolSpec{
			CIDR: "10.40.0.0/24", TenantAllocation: &v1alpha1.TenantAllocation{Start: first, End: last},
		}}
	}
	for name, c := range map[string]struct {
		old, new string
		plane    []client.Object
		want     provider.Verdict
		says     string
	}{
		"nothing is there":             {network, network, nil, provider.Passed, ""},
		"VIP of another cluster":       {network, network + "    vip: 10.40.0.30\n", []client.Object{claim("10.40.0.30", false)}, provider.Refused, "spec.network.vip 10.40.0.30 is allocated, or rests, in NetworkPool management (IPAllocation other-vip); choose free addresses"},
		"VIP that rests":               {network, network + "    vip: 10.40.0.30\n", []client.Object{claim("10.40.0.30", true)}, provider.Unknown, "spec.network.vip 10.40.0.30 is allocated, or rests"},
		"VIP of no pool, but claimed":  {network, network + "    vip: 10.40.0.200\n", []client.Object{claim("10.40.0.200", false)}, provider.Refused, "spec.network.vip 10.40.0.200 is allocated"},
		"range of another cluster":     {network, network + "    loadBalancerPool: {start: 10.40.0.40, end: 10.40.0.49}\n", []client.Object{claim("10.40.0.49", false)}, provider.Refused, "spec.network.loadBalancerPool 10.40.0.40-10.40.0.49 has addresses that are allocated"},
		"too few are left":             {ranges, "end: 10.40.0.43", []client.Object{claim("10.40.0.20", false), claim("10.40.0.21", false)}, provider.Refused, "the cluster needs 23 addresses, 16 of them in one block, and NetworkPool management has 22 of 24 free"},
		"too few are left until later": {ranges, "end: 10.40.0.43", []client.Object{claim("10.40.0.20", true), claim("10.40.0.21", true)}, provider.Unknown, "2 were released and rest"},
		"another pool overlaps":        {network, network, []client.Object{pool("others", "10.40.0.90", "10.40.0.110")}, provider.Refused, "NetworkPools management, 10.40.0.0/24, and others, 10.40.0.0/24, have addresses in common"},
		"a pool is missing":            {"      - name: management\n", "      - name: management\n      - name: more\n", nil, provider.Refused, "NetworkPool more of ProviderConfig harvester-prod does not exist; create it"},
		"a pool is on the plane":       {"      - name: management\n", "      - name: management\n      - name: more\n", []client.Object{pool("more", "10.40.0.120", "10.40.0.140")}, provider.Passed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := withPools(t, c.old, c.new)
			if err != nil {
				t.Fatal(err)
			}
			scheme := runtime.NewScheme()
			if err := v1alpha1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			o := &Operation{ctx: t.Context(), Local: fake.NewClientBuilder().WithScheme(scheme).WithObjects(c.plane...).Build()}
			with, found, err := o.checkPools(m)
			if err != nil || len(found) != 1 || found[0].Verdict != c.want || !strings.Contains(found[0].Message, c.says) {
				t.Fatalf("%+v, %v", found, err)
			}
			if got := len(with.Cluster.Status.Allocations) > 0; got != (c.want != provider.Refused) || len(m.Cluster.Status.Allocations) > 0 {
				t.Errorf("%+v", with.Cluster.Status)
			}
		})
	}
}

// TestPreflightTriesTheAddressesThatAreFree has addresses of the pool allocated on the plane.
func TestPreflightTriesTheAddressesThatAreFree(t *testing.T) {
	m, err := withPools(t, "10.40.0.99", "10.40.0.98")
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	taken := &v1alpha1.AddressClaim{ObjectMeta: metav1.ObjectMeta{Name: "10.40.0.20"}, Spec: v1alpha1.AddressClaimSpec{Address: "10.40.0.20"}}
	o := &Operation{ctx: t.Context(), Local: fake.NewClientBuilder().WithScheme(scheme).WithObjects(taken).Build()}
	with, _, err := o.checkPools(m)
	if err != nil {
		t.Fatal(err)
	}
	if all, _ := machineAddresses(with); len(all) != 6 || all[0] != "10.40.0.37" {
		t.Errorf("%v", all)
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
