// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"
	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// TestALoadBalancerFollowsItsSpec: ports, probes, floating IP and rules, on both schemes.
func TestALoadBalancerFollowsItsSpec(t *testing.T) {
	f := newFixture(t, sim.Seed{Closed: true})
	p := f.connected(t)
	for _, scheme := range []v1alpha1.LoadBalancerScheme{v1alpha1.SchemeInternetFacing, v1alpha1.SchemeInternal} {
		s := provider.LoadBalancerSpec{
			LoadBalancerRef: provider.LoadBalancerRef{Name: "mgmt-cp-lb", Owner: provider.Owner{ID: "lb-" + string(scheme), ClusterID: "c", Cluster: "mgmt"}},
			Port:            6443, HealthCheckPort: 6443, Scheme: scheme,
		}
		for _, change := range []func(){
			func() {},
			func() { s.AdditionalPorts = []int32{50000} },
			func() { s.AllowedCIDRs, s.HealthCheckPort = []string{"198.51.100.0/24"}, 6444 },
			func() {
				s.AllowedCIDRs, s.AdditionalPorts = []string{"203.0.113.0/24", "198.51.100.0/24"}, []int32{50001}
			},
			func() { s.AllowedCIDRs = []string{"198.51.100.7/24", "198.51.100.128/25", "10.0.0.0/8"} },
			func() { s.AllowedCIDRs = nil },
		} {
			change()
			f.follows(t, s, f.ensured(t, p, s))
		}
		f.dropped(t, p, s.LoadBalancerRef)
	}
}

// TestWhatOthersAddToALoadBalancerStays: it is neither compared nor removed.
func TestWhatOthersAddToALoadBalancerStays(t *testing.T) {
	port := func(n int32) cloud.Port { return cloud.Port{Port: n, Check: n} }
	foreignProbe, foreignRule := probe(port(80)), rule("lb", port(80))
	foreignProbe.Name, foreignRule.Name = new("web"), new("web")
	props := func(ports ...int32) *armnetwork.LoadBalancerPropertiesFormat {
		p := &armnetwork.LoadBalancerPropertiesFormat{BackendAddressPools: []*armnetwork.BackendAddressPool{{Name: new(poolName)}}}
		for _, n := range ports {
			p.Probes, p.LoadBalancingRules = append(p.Probes, probe(port(n))), append(p.LoadBalancingRules, rule("lb", port(n)))
		}
		return p
	}
	found, want := props(6443, 50001), props(6443, 50000)
	found.Probes, found.LoadBalancingRules = append(found.Probes, foreignProbe), append(found.LoadBalancingRules, foreignRule)
	found.BackendAddressPools = []*armnetwork.BackendAddressPool{{Name: new("web")}}
	found.OutboundRules, found.InboundNatRules = []*armnetwork.OutboundRule{{Name: new("out")}}, []*armnetwork.InboundNatRule{{Name: new("ssh")}}
	found.InboundNatPools = []*armnetwork.InboundNatPool{{Name: new("nat")}}
	got := merged(found, want)
	if len(got.OutboundRules)+len(got.InboundNatRules)+len(got.InboundNatPools) != 3 || len(got.BackendAddressPools) != 2 {
		t.Errorf("%+v", got)
	}
	if !slices.Contains(got.Probes, foreignProbe) || !slices.Contains(got.LoadBalancingRules, foreignRule) || len(got.LoadBalancingRules) != 3 || len(got.Probes) != 3 {
		t.Errorf("%d rules, %d probes", len(got.LoadBalancingRules), len(got.Probes))
	}
	if shape(armnetwork.LoadBalancer{Properties: got}) != shape(armnetwork.LoadBalancer{Properties: want}) {
		t.Error("a load balancer in line with its spec is changed again")
	}
}

func TestSourcesOfARuleDoNotOverlap(t *testing.T) {
	got := apart([]string{"10.0.1.0/24", "198.51.100.128/25", "198.51.100.7/24", "10.0.0.0/8", "203.0.113.9", "203.0.113.9/32"})
	if diff := cmp.Diff([]string{"10.0.0.0/8", "198.51.100.0/24", "203.0.113.9/32"}, got); diff != "" {
		t.Error(diff)
	}
}

func (f *fixture) ensured(t *testing.T, p provider.Platform, s provider.LoadBalancerSpec) provider.LoadBalancer {
	t.Helper()
	var lb provider.LoadBalancer
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		var err error
		if lb, err = p.LoadBalancers.Ensure(t.Context(), s); err != nil && provider.KindOf(err) != provider.Unavailable {
			t.Fatal(err)
		}
		if err == nil && lb.State == provider.StateRunning && lb.Endpoint != "" {
			return lb
		}
	}
	t.Fatalf("the load balancer is %s: %s", lb.State, lb.Message)
	return lb
}

func (f *fixture) dropped(t *testing.T, p provider.Platform, ref provider.LoadBalancerRef) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		if err := p.LoadBalancers.Delete(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		if lb, err := p.LoadBalancers.Observe(t.Context(), ref); err == nil && lb.State == provider.StateAbsent {
			break
		}
	}
	if left, err := p.LoadBalancers.List(t.Context(), ref.Owner); err != nil || len(left) > 0 {
		t.Errorf("left: %+v, %v", left, err)
	}
	view, err := operator{f}.InspectBalancers(t.Context(), ref.Name)
	if err != nil || len(view.Parts)+len(view.Balancers) > 0 {
		t.Errorf("left: %+v, %v", view, err)
	}
}

// follows compares what the administrator sees with the spec.
func (f *fixture) follows(t *testing.T, s provider.LoadBalancerSpec, lb provider.LoadBalancer) {
	t.Helper()
	found, err := f.admin.balancers.Get(t.Context(), f.admin.spec.ResourceGroup, s.Name, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, probed, listening := map[int32]int32{}, map[string]int32{}, map[int32]int32{}
	for _, p := range cloud.Ports(s) {
		want[p.Port] = p.Check
	}
	for _, p := range found.Properties.Probes {
		probed[value(p.Name)] = value(p.Properties.Port)
	}
	for _, r := range found.Properties.LoadBalancingRules {
		q := r.Properties
		listening[value(q.FrontendPort)] = probed[last(value(q.Probe.ID))]
		if !value(q.EnableFloatingIP) || !value(q.DisableOutboundSnat) || value(q.BackendPort) != value(q.FrontendPort) {
			t.Errorf("rule %s: %+v", value(r.Name), q)
		}
	}
	if diff := cmp.Diff(want, listening); diff != "" {
		t.Error(diff)
	}
	one := balancer{lb: &found.LoadBalancer}
	if one.public() != (s.Scheme == v1alpha1.SchemeInternetFacing) {
		t.Errorf("it is public: %t; its endpoint is %s", one.public(), lb.Endpoint)
	}
	f.concernsOnly(t, s.LoadBalancerRef, lb.Endpoint)
	view, err := operator{f}.InspectBalancers(t.Context(), s.Name)
	if err != nil || len(view.Balancers) != 1 {
		t.Fatalf("%+v, %v", view, err)
	}
	var clients []string
	if len(s.AllowedCIDRs) > 0 {
		clients = apart(slices.Concat(s.AllowedCIDRs, f.machineClients(t)))
	}
	if diff := cmp.Diff(clients, view.Balancers[0].AllowedCIDRs); diff != "" {
		t.Error(diff)
	}
}

// concernsOnly: the rules are about the load balancer's address, which packets keep.
func (f *fixture) concernsOnly(t *testing.T, ref provider.LoadBalancerRef, endpoint string) {
	t.Helper()
	one, err := balancers{f.admin}.find(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range one.rules {
		if to := value(r.Properties.DestinationAddressPrefix); to != endpoint {
			t.Errorf("rule %s is about %s, not about %s", value(r.Name), to, endpoint)
		}
	}
}

// TestClientsAreRefusedWithPublicMachines: their addresses are not known before they run.
func TestClientsAreRefusedWithPublicMachines(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	p := f.connected(t, func(c *provider.Config) { c.Spec.Azure.PublicIP = true })
	_, err := p.LoadBalancers.Ensure(t.Context(), provider.LoadBalancerSpec{
		LoadBalancerRef: provider.LoadBalancerRef{Name: "lb", Owner: provider.Owner{ID: "lb"}}, Port: 6443, HealthCheckPort: 6443, AllowedCIDRs: []string{"198.51.100.0/24"},
	})
	if provider.ReasonOf(err) != provider.ReasonFieldUnsupported {
		t.Fatal(err)
	}
	f.dropped(t, p, provider.LoadBalancerRef{Name: "lb", Owner: provider.Owner{ID: "lb"}})
}

// exits gives the NAT gateway of the subnet a public prefix beside its address.
func (f *fixture) exits(t *testing.T) string {
	t.Helper()
	a := f.admin
	made, err := a.prefixes.BeginCreateOrUpdate(t.Context(), a.spec.ResourceGroup, "nat", armnetwork.PublicIPPrefix{
		Location: new("westeurope"), SKU: &armnetwork.PublicIPPrefixSKU{Name: new(armnetwork.PublicIPPrefixSKUNameStandard)}, Properties: &armnetwork.PublicIPPrefixPropertiesFormat{PrefixLength: new(int32(30))},
	}, nil)
	if err := finished(t.Context(), made, err); err != nil {
		t.Fatal(err)
	}
	gateway, err := a.gateways.Get(t.Context(), a.spec.ResourceGroup, "butler-nat", nil)
	if err != nil {
		t.Fatal(err)
	}
	prefix, err := a.prefixes.Get(t.Context(), a.spec.ResourceGroup, "nat", nil)
	if err != nil {
		t.Fatal(err)
	}
	gateway.Properties.PublicIPPrefixes = []*armnetwork.SubResource{{ID: prefix.ID}}
	changed, err := a.gateways.BeginCreateOrUpdate(t.Context(), a.spec.ResourceGroup, "butler-nat", gateway.NatGateway, nil)
	if err := finished(t.Context(), changed, err); err != nil {
		t.Fatal(err)
	}
	return value(prefix.Properties.IPPrefix)
}

// limited is a load balancer for some clients.
func limited(name string) provider.LoadBalancerSpec {
	return provider.LoadBalancerSpec{
		LoadBalancerRef: provider.LoadBalancerRef{Name: name, Owner: provider.Owner{ID: name, ClusterID: "c", Cluster: "mgmt"}},
		Port:            6443, HealthCheckPort: 6443, AllowedCIDRs: []string{"198.51.100.0/24"},
	}
}

// TestMachinesBehindAPublicPrefixAreClients: they leave their network with its addresses.
func TestMachinesBehindAPublicPrefixAreClients(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	prefix, s := f.exits(t), limited("lb")
	f.ensured(t, f.connected(t), s)
	view, err := operator{f}.InspectBalancers(t.Context(), s.Name)
	if err != nil || len(view.Balancers) != 1 || !slices.Contains(view.Balancers[0].AllowedCIDRs, prefix) {
		t.Errorf("%s is not among the clients: %+v, %v", prefix, view.Balancers, err)
	}
}

// TestARuleThatUndoesAllowedCIDRsIsReported: at the first request and when it is added
// later, until it is gone.
func TestARuleThatUndoesAllowedCIDRsIsReported(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	p, s := f.connected(t), limited("lb")
	f.ensured(t, p, s)
	open := toward("*", inbound(300, armnetwork.SecurityRuleAccessAllow, "Tcp", fromInternet, "6000-7000"))
	open.Properties.SourcePortRange = new("*")
	added, err := f.admin.rules.BeginCreateOrUpdate(t.Context(), f.admin.spec.ResourceGroup, f.admin.spec.SecurityGroupName, "open", *open, nil)
	if err := finished(t.Context(), added, err); err != nil {
		t.Fatal(err)
	}
	if lb, err := p.LoadBalancers.Observe(t.Context(), s.LoadBalancerRef); err != nil || lb.State != provider.StatePartial || lb.Endpoint == "" {
		t.Errorf("%+v, %v", lb, err)
	}
	_, err = p.LoadBalancers.Ensure(t.Context(), s)
	if provider.ReasonOf(err) != reasonClientsUnrestricted || provider.KindOf(err) != provider.Invalid || !strings.Contains(err.Error(), "security rule open (priority 300) lets Internet connect to port 6443") {
		t.Error(err)
	}
	removed, err := f.admin.rules.BeginDelete(t.Context(), f.admin.spec.ResourceGroup, f.admin.spec.SecurityGroupName, "open", nil)
	if err := finished(t.Context(), removed, err); err != nil {
		t.Fatal(err)
	}
	f.ensured(t, p, s)
}

// TestRulesOfTheUserBeforeAllowedCIDRs: which of them let in more clients.
func TestRulesOfTheUserBeforeAllowedCIDRs(t *testing.T) {
	const allow, deny = armnetwork.SecurityRuleAccessAllow, armnetwork.SecurityRuleAccessDeny
	for name, c := range map[string]struct {
		scope, endpoint string
		rules           []*armnetwork.SecurityRule
		exposed         bool
	}{
		"none":                                {fromInternet, "20.1.2.3", nil, false},
		"to the internet":                     {fromInternet, "20.1.2.3", []*armnetwork.SecurityRule{toward("*", inbound(100, allow, "Tcp", fromInternet, "6443"))}, true},
		"to all, in a range of ports":         {fromInternet, "20.1.2.3", []*armnetwork.SecurityRule{toward("20.1.0.0/16", inbound(100, allow, "*", "*", "80,6000-7000"))}, true},
		"to a part of the internet":           {fromInternet, "20.1.2.3", []*armnetwork.SecurityRule{toward("*", inbound(100, allow, "Tcp", "203.0.113.0/24", "6443"))}, true},
		"to another cloud service":            {fromInternet, "20.1.2.3", []*armnetwork.SecurityRule{toward("*", inbound(100, allow, "Tcp", "Storage", "6443"))}, true},
		"to an allowed client":                {fromInternet, "20.1.2.3", []*armnetwork.SecurityRule{toward("*", inbound(100, allow, "Tcp", "198.51.100.8/29", "6443"))}, false},
		"to probes and the network":           {fromInternet, "20.1.2.3", []*armnetwork.SecurityRule{toward("*", inbound(100, allow, "*", fromBalancer, "*")), toward("*", inbound(101, allow, "*", fromNetwork, "*"))}, false},
		"to the machines themselves":          {fromInternet, "20.1.2.3", []*armnetwork.SecurityRule{toward("10.0.0.0/16", inbound(100, allow, "*", "*", "*"))}, false},
		"to another port":                     {fromInternet, "20.1.2.3", []*armnetwork.SecurityRule{toward("*", inbound(100, allow, "Tcp", "*", "443"))}, false},
		"of another protocol":                 {fromInternet, "20.1.2.3", []*armnetwork.SecurityRule{toward("*", inbound(100, allow, "Udp", "*", "*"))}, false},
		"after the one of the driver":         {fromInternet, "20.1.2.3", []*armnetwork.SecurityRule{toward("*", inbound(4000, allow, "*", "*", "*"))}, false},
		"after another one that refuses":      {fromInternet, "20.1.2.3", []*armnetwork.SecurityRule{toward("*", inbound(200, allow, "Tcp", "*", "6443")), toward("*", inbound(100, deny, "*", fromInternet, "*"))}, false},
		"after one that refuses a part":       {fromInternet, "20.1.2.3", []*armnetwork.SecurityRule{toward("*", inbound(100, deny, "*", "203.0.113.0/24", "*")), toward("*", inbound(200, allow, "Tcp", "*", "6443"))}, true},
		"to the network, of an internal one":  {fromNetwork, "10.0.1.9", []*armnetwork.SecurityRule{toward(fromNetwork, inbound(100, allow, "*", fromNetwork, "*"))}, true},
		"to the machines, of an internal one": {fromNetwork, "10.0.1.9", []*armnetwork.SecurityRule{toward("10.0.0.0/16", inbound(100, allow, "*", "10.0.5.0/24", "*"))}, true},
		"to the internet, of an internal one": {fromNetwork, "10.0.1.9", []*armnetwork.SecurityRule{toward("*", inbound(100, allow, "*", fromInternet, "*"))}, false},
		"to another address, of an internal":  {fromNetwork, "10.0.1.9", []*armnetwork.SecurityRule{toward("10.0.1.8", inbound(100, allow, "*", "*", "*"))}, false},
	} {
		s := limited("lb")
		own := []*armnetwork.SecurityRule{
			securityRule(s, c.endpoint, suffixAllow, allow, []string{"198.51.100.0/24", "10.0.1.0/24"}, 2000), securityRule(s, c.endpoint, suffixDeny, deny, []string{c.scope}, 2001),
		}
		front := &armnetwork.FrontendIPConfigurationPropertiesFormat{PrivateIPAddress: &c.endpoint}
		one := balancer{Claim: cloud.Claim{Ref: s.LoadBalancerRef}, rules: own, others: append(own, c.rules...), lb: &armnetwork.LoadBalancer{Properties: &armnetwork.LoadBalancerPropertiesFormat{
			FrontendIPConfigurations: []*armnetwork.FrontendIPConfiguration{{Properties: front}},
		}}}
		if how := one.exposure(); (how != "") != c.exposed {
			t.Errorf("%s: %q", name, how)
		}
	}
}
