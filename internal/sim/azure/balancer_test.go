// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure_test

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/internal/sim/cloud/cloudtest"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

const balancerID = resources + "Microsoft.Network/loadBalancers/api"

func ref(id string) *armnetwork.SubResource { return &armnetwork.SubResource{ID: &id} }

// balancer is one with a frontend, a pool, a probe and a rule.
func balancer(frontend *armnetwork.FrontendIPConfigurationPropertiesFormat, changes ...func(*armnetwork.LoadBalancer)) armnetwork.LoadBalancer {
	b := armnetwork.LoadBalancer{Location: new("westeurope"), SKU: &armnetwork.LoadBalancerSKU{Name: new(armnetwork.LoadBalancerSKUNameStandard)}, Properties: &armnetwork.LoadBalancerPropertiesFormat{
		FrontendIPConfigurations: []*armnetwork.FrontendIPConfiguration{{Name: new("front"), Properties: frontend}},
		BackendAddressPools:      []*armnetwork.BackendAddressPool{{Name: new("pool")}},
		Probes: []*armnetwork.Probe{{Name: new("probe"), Properties: &armnetwork.ProbePropertiesFormat{
			Protocol: new(armnetwork.ProbeProtocolTCP), Port: new(int32(cloudtest.Port)), IntervalInSeconds: new(int32(5)),
		}}},
		LoadBalancingRules: []*armnetwork.LoadBalancingRule{{Name: new("rule"), Properties: &armnetwork.LoadBalancingRulePropertiesFormat{
			FrontendIPConfiguration: ref(balancerID + "/frontendIPConfigurations/front"), BackendAddressPool: ref(balancerID + "/backendAddressPools/pool"),
			Probe: ref(balancerID + "/probes/probe"), Protocol: new(armnetwork.TransportProtocolTCP), FrontendPort: new(int32(cloudtest.Port)), BackendPort: new(int32(cloudtest.Port)),
			DisableOutboundSnat: new(true),
		}}},
	}}
	for _, change := range changes {
		change(&b)
	}
	return b
}

func internal() *armnetwork.FrontendIPConfigurationPropertiesFormat {
	return &armnetwork.FrontendIPConfigurationPropertiesFormat{Subnet: &armnetwork.Subnet{ID: new(subnetID)}}
}

func (f *fixture) publicAddress(t *testing.T, name string) armnetwork.PublicIPAddress {
	t.Helper()
	p, err := f.net.NewPublicIPAddressesClient().BeginCreateOrUpdate(t.Context(), "example", name, armnetwork.PublicIPAddress{
		Location: new("westeurope"), SKU: &armnetwork.PublicIPAddressSKU{Name: new(armnetwork.PublicIPAddressSKUNameStandard)},
		Properties: &armnetwork.PublicIPAddressPropertiesFormat{PublicIPAllocationMethod: new(armnetwork.IPAllocationMethodStatic)},
	}, nil)
	cloudtest.Must(t, err)
	return finish(t, p).PublicIPAddress
}

func (f *fixture) balance(t *testing.T, b armnetwork.LoadBalancer) armnetwork.LoadBalancer {
	t.Helper()
	p, err := f.net.NewLoadBalancersClient().BeginCreateOrUpdate(t.Context(), "example", "api", b, nil)
	cloudtest.Must(t, err)
	return finish(t, p).LoadBalancer
}

// join makes the interface of a machine a member of the pool, or ends that.
func (f *fixture) join(t *testing.T, name string, member bool) {
	t.Helper()
	c := f.net.NewInterfacesClient()
	got, err := c.Get(t.Context(), "example", name, nil)
	cloudtest.Must(t, err)
	got.Properties.IPConfigurations[0].Properties.LoadBalancerBackendAddressPools = nil
	if member {
		got.Properties.IPConfigurations[0].Properties.LoadBalancerBackendAddressPools = []*armnetwork.BackendAddressPool{{ID: new(balancerID + "/backendAddressPools/pool")}}
	}
	p, err := c.BeginCreateOrUpdate(t.Context(), "example", name, got.Interface, nil)
	cloudtest.Must(t, err)
	finish(t, p)
}

// answers reports whether an address can be connected to from the workstation.
func (f *fixture) answers(t *testing.T, address string) bool {
	t.Helper()
	return f.answersFrom(t, network.Workstation(), address)
}

func (f *fixture) answersFrom(t *testing.T, from network.Source, address string) bool {
	t.Helper()
	conn, err := f.Network.DialFrom(t.Context(), from, "tcp", endpoint(address, cloudtest.Port))
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

func TestPublicLoadBalancerPassesConnectionsOn(t *testing.T) {
	f := start(t, azure.Seed{})
	f.run(t, "one")
	address := f.publicAddress(t, "api")
	front := &armnetwork.FrontendIPConfigurationPropertiesFormat{PublicIPAddress: &armnetwork.PublicIPAddress{ID: address.ID}}
	b := f.balance(t, balancer(front))
	if b.Properties.Probes[0].Properties.LoadBalancingRules == nil || *b.Properties.FrontendIPConfigurations[0].Properties.LoadBalancingRules[0].ID != balancerID+"/loadBalancingRules/rule" {
		t.Errorf("its parts do not refer to each other: %+v", b.Properties)
	}
	ip := *address.Properties.IPAddress
	if f.answers(t, ip) {
		t.Error("it answers without members")
	}
	f.join(t, "one", true)
	cloudtest.Until(t, "the member is healthy", func() bool { return f.answers(t, ip) })
	got, err := f.net.NewLoadBalancerBackendAddressPoolsClient().Get(t.Context(), "example", "api", "pool", nil)
	cloudtest.Must(t, err)
	if n := len(got.Properties.BackendIPConfigurations); n != 1 {
		t.Errorf("the pool has %d members", n)
	}
	f.join(t, "one", false)
	if f.answers(t, ip) {
		t.Error("it answers with a member that has left")
	}
	_, err = f.net.NewPublicIPAddressesClient().BeginDelete(t.Context(), "example", "api", nil)
	expect(t, "address in use", err, "400 PublicIPAddressCannotBeDeleted")
	p, err := f.net.NewLoadBalancersClient().BeginDelete(t.Context(), "example", "api", nil)
	cloudtest.Must(t, err)
	finish(t, p)
	q, err := f.net.NewPublicIPAddressesClient().BeginDelete(t.Context(), "example", "api", nil)
	cloudtest.Must(t, err)
	finish(t, q)
}

func TestFloatingIPReachesTargetsWithTheAddressOnly(t *testing.T) {
	f := start(t, azure.Seed{})
	f.run(t, "one")
	address := f.publicAddress(t, "api")
	front := &armnetwork.FrontendIPConfigurationPropertiesFormat{PublicIPAddress: &armnetwork.PublicIPAddress{ID: address.ID}}
	floating := func(b *armnetwork.LoadBalancer) {
		b.Properties.LoadBalancingRules[0].Properties.EnableFloatingIP = new(true)
	}
	f.balance(t, balancer(front, floating))
	f.join(t, "one", true)
	if f.answers(t, *address.Properties.IPAddress) {
		t.Error("a machine without the address takes packets for it")
	}
	f.balance(t, balancer(front))
	cloudtest.Until(t, "floating IP is off", func() bool { return f.answers(t, *address.Properties.IPAddress) })
}

func TestInternalLoadBalancerIsReachedInsideOnly(t *testing.T) {
	f := start(t, azure.Seed{})
	f.run(t, "one")
	static := internal()
	static.PrivateIPAllocationMethod, static.PrivateIPAddress = new(armnetwork.IPAllocationMethodStatic), new("10.40.1.200")
	b := f.balance(t, balancer(static))
	f.join(t, "one", true)
	ip := *b.Properties.FrontendIPConfigurations[0].Properties.PrivateIPAddress
	if ip != "10.40.1.200" || f.answers(t, ip) {
		t.Errorf("the workstation reaches %s", ip)
	}
	for from, want := range map[string]bool{"10.40.0.9": true, "10.40.0.4": false} { // the second is the member itself
		source := network.Source{Address: netip.MustParseAddr(from)}
		if want {
			cloudtest.Until(t, "another machine reaches it", func() bool { return f.answersFrom(t, source, ip) })
		} else if f.answersFrom(t, source, ip) {
			t.Error("a member reaches itself through an internal load balancer")
		}
	}
}

func TestSecurityGroupDecidesWhoReachesALoadBalancer(t *testing.T) {
	f := start(t, azure.Seed{Closed: true})
	f.run(t, "one")
	address := f.publicAddress(t, "api")
	f.balance(t, balancer(&armnetwork.FrontendIPConfigurationPropertiesFormat{PublicIPAddress: &armnetwork.PublicIPAddress{ID: address.ID}}))
	f.join(t, "one", true)
	if f.answers(t, *address.Properties.IPAddress) {
		t.Error("the default rules let the internet in")
	}
	rules := f.net.NewSecurityRulesClient()
	rule := armnetwork.SecurityRule{Properties: &armnetwork.SecurityRulePropertiesFormat{
		Protocol: new(armnetwork.SecurityRuleProtocolTCP), Access: new(armnetwork.SecurityRuleAccessAllow), Direction: new(armnetwork.SecurityRuleDirectionInbound),
		Priority: new(int32(200)), SourceAddressPrefix: new("*"), SourcePortRange: new("*"), DestinationAddressPrefix: new("*"), DestinationPortRange: new("6000-7000"),
	}}
	p, err := rules.BeginCreateOrUpdate(t.Context(), "example", "nodes", "api", rule, nil)
	cloudtest.Must(t, err)
	finish(t, p)
	cloudtest.Until(t, "the rule applies", func() bool { return f.answers(t, *address.Properties.IPAddress) })
	_, err = rules.BeginCreateOrUpdate(t.Context(), "example", "nodes", "again", rule, nil)
	expect(t, "same priority", err, "400 SecurityRuleConflict")
	within := rule
	within.Properties = new(*rule.Properties)
	within.Properties.SourceAddressPrefix, within.Properties.SourceAddressPrefixes = nil, []*string{new("10.0.0.0/8"), new("10.1.2.3")}
	_, err = rules.BeginCreateOrUpdate(t.Context(), "example", "nodes", "within", within, nil)
	expect(t, "overlapping sources", err, "400 OverlappingSubnetsNotPermittedInSecurityRule")
	q, err := rules.BeginDelete(t.Context(), "example", "nodes", "api", nil)
	cloudtest.Must(t, err)
	finish(t, q)
	if f.answers(t, *address.Properties.IPAddress) {
		t.Error("the rule applies after its end")
	}
}

func TestLoadBalancersRefuse(t *testing.T) {
	f := start(t, azure.Seed{})
	for what, c := range map[string]struct {
		change func(*armnetwork.LoadBalancer)
		want   string
	}{
		"basic":         {func(b *armnetwork.LoadBalancer) { b.SKU = nil }, "400 BasicLoadBalancerRetired"},
		"no such pool":  {func(b *armnetwork.LoadBalancer) { b.Properties.BackendAddressPools = nil }, "400 InvalidResourceReference"},
		"no such probe": {func(b *armnetwork.LoadBalancer) { b.Properties.Probes = nil }, "400 InvalidResourceReference"},
		"no such subnet": {func(b *armnetwork.LoadBalancer) {
			b.Properties.FrontendIPConfigurations[0].Properties.Subnet.ID = new(subnetID + "x")
		}, "400 InvalidResourceReference"},
		"no frontend": {func(b *armnetwork.LoadBalancer) { b.Properties.FrontendIPConfigurations[0].Properties.Subnet = nil }, "400 InvalidRequestFormat"},
		"fast probe":  {func(b *armnetwork.LoadBalancer) { b.Properties.Probes[0].Properties.IntervalInSeconds = new(int32(2)) }, "400 InvalidRequestFormat"},
		"two of a name": {func(b *armnetwork.LoadBalancer) {
			b.Properties.Probes = append(b.Properties.Probes, b.Properties.Probes[0])
		}, "400 InvalidRequestFormat"},
		"floating ports": {func(b *armnetwork.LoadBalancer) {
			p := b.Properties.LoadBalancingRules[0].Properties
			p.EnableFloatingIP, p.BackendPort = new(true), new(int32(1))
		}, "400 InvalidRequestFormat"},
		"protocol": {func(b *armnetwork.LoadBalancer) {
			b.Properties.LoadBalancingRules[0].Properties.Protocol = new(armnetwork.TransportProtocolUDP)
		}, "400 NotSimulated"},
		"tag":              {func(b *armnetwork.LoadBalancer) { b.Tags = map[string]*string{"a/b": new("")} }, "400 InvalidTagNameCharacters"},
		"another location": {func(b *armnetwork.LoadBalancer) { b.Location = new("eastus") }, "400 LocationNotAvailableForResourceType"},
	} {
		_, err := f.net.NewLoadBalancersClient().BeginCreateOrUpdate(t.Context(), "example", "api", balancer(internal(), c.change), nil)
		expect(t, what, err, c.want)
	}
	_, err := f.net.NewLoadBalancersClient().BeginCreateOrUpdate(t.Context(), "nowhere", "api", balancer(internal()), nil)
	expect(t, "no group", err, "404 ResourceGroupNotFound")
	_, err = f.net.NewLoadBalancersClient().BeginCreateOrUpdate(t.Context(), "example", "-api", balancer(internal()), nil)
	expect(t, "name", err, "400 InvalidResourceName")
}

// A blind PUT overwrites what there is; one with an ETag does not.
func TestETagsOfTheNetwork(t *testing.T) {
	f := start(t, azure.Seed{})
	first := f.balance(t, balancer(internal()))
	with := func(name, value string) (err error) {
		ctx := policy.WithHTTPHeader(t.Context(), http.Header{name: {value}})
		_, err = f.net.NewLoadBalancersClient().BeginCreateOrUpdate(ctx, "example", "api", balancer(internal()), nil)
		return err
	}
	cloudtest.Must(t, with("If-None-Match", "*"))
	expect(t, "old ETag", with("If-Match", *first.Etag), "412 PreconditionFailed")
	now, err := f.net.NewLoadBalancersClient().Get(t.Context(), "example", "api", nil)
	cloudtest.Must(t, err)
	cloudtest.Must(t, with("If-Match", *now.Etag))
	set := func(value string) (int, string) {
		return f.call(t, http.MethodPut, resources+"Microsoft.Compute/availabilitySets/set?api-version=2024-11-01", f.token(t),
			`{"location":"westeurope","sku":{"name":"Aligned"}}`, "If-Match", value, "If-None-Match", "*")
	}
	for range 2 {
		if status, body := set(`"1"`); status != http.StatusOK {
			t.Errorf("an availability set honours ETags: %d %s", status, body)
		}
	}
}
