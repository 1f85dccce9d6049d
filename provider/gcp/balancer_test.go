// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/compute/apiv1/computepb"
	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/gcp"
	"github.com/butlerdotdev/butler/provider"
)

// TestALoadBalancerFollowsItsSpec changes ports, health check and ranges of one whose name
// is too long for a part, external and internal, and deletes it.
func TestALoadBalancerFollowsItsSpec(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	p := f.connected(t)
	for _, scheme := range []v1alpha1.LoadBalancerScheme{v1alpha1.SchemeInternetFacing, v1alpha1.SchemeInternal} {
		s := provider.LoadBalancerSpec{Port: 6443, HealthCheckPort: 6443, AdditionalPorts: []int32{50000}, Scheme: scheme}
		s.Name, s.Owner = strings.Repeat("long-", 12)+"lb", provider.Owner{ID: "o", ClusterID: "c", Cluster: "mgmt"}
		for _, change := range []func(){
			func() {},
			func() { s.AllowedCIDRs, s.AdditionalPorts = []string{"10.0.0.0/8", "192.0.2.0/24"}, nil },
			func() {
				s.AllowedCIDRs, s.AdditionalPorts, s.HealthCheckPort = []string{"10.0.0.0/8"}, []int32{50001}, 6444
			},
		} {
			change()
			f.ensured(t, p, s)
			f.follows(t, s)
		}
		f.removed(t, p, s.LoadBalancerRef)
	}
}

func (f *fixture) ensured(t *testing.T, p provider.Platform, s provider.LoadBalancerSpec) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; <-time.After(20 * time.Millisecond) {
		lb, err := p.LoadBalancers.Ensure(t.Context(), s)
		if err != nil || time.Now().After(end) {
			t.Fatalf("ensure reports %+v: %v", lb, err)
		}
		if lb.State == provider.StateRunning {
			return
		}
	}
}

func (f *fixture) removed(t *testing.T, p provider.Platform, ref provider.LoadBalancerRef) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		if err := p.LoadBalancers.Delete(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		if lb, err := p.LoadBalancers.Observe(t.Context(), ref); err != nil || lb.State == provider.StateAbsent {
			break
		}
	}
	if left, err := p.LoadBalancers.List(t.Context(), ref.Owner); err != nil || len(left) > 0 {
		t.Errorf("left: %+v, %v", left, err)
	}
}

// follows compares what the administrator sees with the spec.
func (f *fixture) follows(t *testing.T, s provider.LoadBalancerSpec) {
	t.Helper()
	b := balancers{f.admin}
	found, err := b.find(t.Context(), s.LoadBalancerRef)
	if err != nil {
		t.Fatal(err)
	}
	want := append([]int32{s.Port}, s.AdditionalPorts...)
	slices.Sort(want)
	if diff := cmp.Diff(want, found.ports()); diff != "" || found.missing() != "" {
		t.Errorf("%s %s", found.missing(), diff)
	}
	if got := found.checks[s.Port].GetTcpHealthCheck().GetPort(); got != s.HealthCheckPort {
		t.Errorf("port %d is probed on %d", s.Port, got)
	}
	internal := s.Scheme == v1alpha1.SchemeInternal
	if got := found.address.GetAddressType() == computepb.Address_INTERNAL.String(); got != internal {
		t.Errorf("the address is %s", found.address.GetAddressType())
	}
	clients := []string{"0.0.0.0/0"}
	if len(s.AllowedCIDRs) > 0 {
		clients = append(slices.Clone(s.AllowedCIDRs), f.clients(t)...)
		clients = slices.DeleteFunc(clients, func(c string) bool { return internal && strings.HasSuffix(c, "/32") })
	}
	if !sameSet(clients, found.firewall.GetSourceRanges()) || !slices.Equal(found.firewall.GetDestinationRanges(), []string{found.address.GetAddress() + "/32"}) {
		t.Errorf("clients are %v, want %v; destinations %v", found.firewall.GetSourceRanges(), clients, found.firewall.GetDestinationRanges())
	}
}
