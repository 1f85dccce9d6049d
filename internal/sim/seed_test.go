// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/facade"
)

func manifest() (*v1alpha1.ClusterBootstrap, *v1alpha1.ProviderConfig) {
	cb, pc := &v1alpha1.ClusterBootstrap{}, &v1alpha1.ProviderConfig{}
	cb.Spec.Network.VIP = "10.9.8.100"
	cb.Spec.Network.LoadBalancerPool = &v1alpha1.AddressRange{Start: "10.9.8.10", End: "10.9.8.20"}
	cb.Spec.Cluster.ControlPlane.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 1, StorageClass: "fast"}, {SizeGB: 1}}
	cb.Spec.Cluster.Workers = &v1alpha1.NodePool{ExtraDisks: []v1alpha1.DiskSpec{{SizeGB: 1, StorageClass: "big"}}}
	pc.Spec.Harvester = &v1alpha1.HarvesterSpec{
		Endpoint: "https://harvester.example.com:8443", Namespace: "vms", NetworkName: "net/a", ImageName: "img/b", StorageClassName: "usual",
	}
	return cb, pc
}

// seedOf returns the seed of a manifest for a platform that has its image alone.
func seedOf(t *testing.T, cb *v1alpha1.ClusterBootstrap, pc *v1alpha1.ProviderConfig, pools ...*v1alpha1.NetworkPool) Seed {
	t.Helper()
	platform := facade.Platform{Seed: func(_ *v1alpha1.ClusterBootstrap, pc *v1alpha1.ProviderConfig) any {
		return map[string]string{"image": pc.Spec.Harvester.ImageName}
	}}
	s, err := SeedFor(platform, cb, pc, pools...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMachinesLiveAroundTheVIPAndLeaveItAlone(t *testing.T) {
	cb, pc := manifest()
	subnet, err := seedOf(t, cb, pc).subnet()
	if err != nil {
		t.Fatal(err)
	}
	if subnet.Prefix != netip.MustParsePrefix("10.9.8.0/24") {
		t.Errorf("subnet %s", subnet.Prefix)
	}
	var reserved []string
	for _, r := range subnet.Reserved {
		reserved = append(reserved, r.From.String()+"-"+r.To.String())
	}
	if diff := cmp.Diff([]string{"10.9.8.100-10.9.8.100", "10.9.8.10-10.9.8.20"}, reserved); diff != "" {
		t.Error(diff)
	}
}

func TestASingleNodeIsOneMachine(t *testing.T) {
	cb, pc := manifest()
	cb.Spec.Cluster.Name, cb.Spec.Cluster.Topology = "edge", v1alpha1.TopologySingleNode
	cb.Spec.Cluster.ControlPlane.Replicas = 1
	if diff := cmp.Diff([]audit.Desired{{Cluster: "edge", Machines: 1}}, seedOf(t, cb, pc).Desired); diff != "" {
		t.Error(diff)
	}
}

func TestSubnetThatIsNoneIsRefused(t *testing.T) {
	if _, err := (Seed{Subnet: "nonsense"}).subnet(); err == nil {
		t.Error("nonsense was accepted")
	}
}

func TestNetworkOfAPoolHasNoDHCP(t *testing.T) {
	pool := func(name, cidr string) *v1alpha1.NetworkPool {
		p := &v1alpha1.NetworkPool{Spec: v1alpha1.NetworkPoolSpec{CIDR: cidr}}
		p.Name = name
		return p
	}
	pools := []*v1alpha1.NetworkPool{pool("other", "10.5.0.0/16"), pool("late", "10.6.0.0/24"), pool("first", "10.7.0.9/24")}
	for name, tt := range map[string]struct{ gateway, want, router string }{
		"pool with the gateway": {gateway: "10.6.0.1", want: "10.6.0.0/24", router: "10.6.0.1"},
		"first pool":            {want: "10.7.0.0/24"},
		"gateway of no pool":    {gateway: "10.99.0.1", want: "10.7.0.0/24"},
	} {
		cb, pc := manifest()
		pc.Spec.Network = &v1alpha1.ProviderNetworkSpec{
			Mode: v1alpha1.NetworkModeIPAM, Gateway: tt.gateway,
			PoolRefs: []v1alpha1.NetworkPoolReference{{Name: "late", Priority: 2}, {Name: "first", Priority: 1}, {Name: "absent"}},
		}
		s := seedOf(t, cb, pc, pools...)
		subnet, err := s.subnet()
		if err != nil || !subnet.NoDHCP || s.Subnet != tt.want || s.Gateway != tt.router {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	cb, pc := manifest()
	if s := seedOf(t, cb, pc, pools...); s.NoDHCP || s.Subnet != "10.9.8.0/24" {
		t.Errorf("without pools: %+v", s)
	}
}

// TestExampleHasItsPlatform: everything that the example of the documentation names.
func TestExampleHasItsPlatform(t *testing.T) {
	data, err := os.ReadFile("../../configs/examples/harvester-ha.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cb, pc := &v1alpha1.ClusterBootstrap{}, &v1alpha1.ProviderConfig{}
	for doc := range strings.SplitSeq(string(data), "\n---\n") {
		var into any = cb
		if strings.Contains(doc, "kind: ProviderConfig") {
			into = pc
		}
		if err := yaml.UnmarshalStrict([]byte(doc), into); err != nil {
			t.Fatal(err)
		}
	}
	want := Seed{
		Platform: []byte(`{"image":"default/talos-v1.9.2"}`),
		Subnet:   "10.40.0.0/24",
		Reserved: []v1alpha1.AddressRange{{Start: "10.40.0.200", End: "10.40.0.200"}, {Start: "10.40.0.210", End: "10.40.0.250"}},
		Desired:  []audit.Desired{{Cluster: "butler-mgmt", Machines: 6}},
		Shared:   []string{"10.40.0.200"},
	}
	if diff := cmp.Diff(want, seedOf(t, cb, pc)); diff != "" {
		t.Error(diff)
	}
}
