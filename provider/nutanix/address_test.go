// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/nutanix"
	"github.com/butlerdotdev/butler/provider"
)

func address(text, gateway string) provider.Network {
	n := provider.Network{Address: netip.MustParsePrefix(text)}
	if gateway != "" {
		n.Gateway = netip.MustParseAddr(gateway)
	}
	return n
}

func TestAnAddressIsOneThatTheSubnetAssigns(t *testing.T) {
	plan := addressPlan{network: netip.MustParsePrefix("10.40.0.0/24"), gateway: netip.MustParseAddr("10.40.0.1")}
	without := plan
	without.gateway = netip.Addr{}
	for reason, c := range map[string]struct {
		addresses addressPlan
		network   provider.Network
		reason    string
		says      string
	}{
		"an address of the subnet":     {plan, address("10.40.0.11/24", "10.40.0.1"), "", ""},
		"the gateway is the subnet's":  {plan, address("10.40.0.11/24", ""), "", ""},
		"an unmanaged subnet":          {addressPlan{}, address("10.40.0.11/24", ""), provider.ReasonAddressUnsupported, "enable IP address management"},
		"an address of IPv6":           {plan, address("fd00::11/64", ""), provider.ReasonAddressUnsupported, "IPv4"},
		"an address of another subnet": {plan, address("10.41.0.11/24", ""), provider.ReasonAddressInvalid, "which is 10.40.0.0/24"},
		"another prefix length":        {plan, address("10.40.0.11/16", ""), provider.ReasonAddressInvalid, "which is 10.40.0.0/24"},
		"the gateway itself":           {plan, address("10.40.0.1/24", ""), provider.ReasonAddressInvalid, "is the gateway of"},
		"another gateway":              {plan, address("10.40.0.11/24", "10.40.0.254"), provider.ReasonAddressInvalid, "that of subnet vlan40 is 10.40.0.1"},
		"a gateway that is not there":  {without, address("10.40.0.11/24", "10.40.0.1"), provider.ReasonAddressInvalid, "that of subnet vlan40 is none"},
	} {
		err := checkAddress(subnet{name: "vlan40", addresses: c.addresses}, c.network)
		if c.reason == "" && err != nil || c.reason != "" && (provider.KindOf(err) != provider.Invalid || provider.ReasonOf(err) != c.reason || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

func TestTheGatewayOfPoolsIsThatOfTheSubnet(t *testing.T) {
	net := subnet{name: "vlan40", addresses: addressPlan{network: netip.MustParsePrefix("10.40.0.0/24"), gateway: netip.MustParseAddr("10.40.0.1")}}
	for gateway, refused := range map[string]bool{"": false, "10.40.0.1": false, "10.40.0.254": true} {
		if err := checkPooled(net, v1alpha1.ProviderNetworkSpec{Gateway: gateway}); (err != nil) != refused {
			t.Errorf("%q: %v", gateway, err)
		}
	}
	if err := checkPooled(subnet{name: "vlan41"}, v1alpha1.ProviderNetworkSpec{}); provider.ReasonOf(err) != provider.ReasonAddressUnsupported {
		t.Errorf("an unmanaged subnet: %v", err)
	}
}

func TestAddressesThatTheSubnetAssignsToOthersAreNamed(t *testing.T) {
	p := preflight{&platform{pooled: &v1alpha1.ProviderNetworkSpec{}}}
	found, err := p.addressFinding(subnet{name: "vlan40"}, nil, []string{"10.40.0.11"})
	if err != nil || len(found) != 1 || found[0].Verdict != provider.Unknown || !strings.Contains(found[0].Message, "10.40.0.11") || found[0].Hint == "" {
		t.Errorf("%+v, %v", found, err)
	}
	found, err = p.addressFinding(subnet{name: "vlan40"}, checkManaged(subnet{name: "vlan40"}), nil)
	if err != nil || len(found) != 1 || found[0].Verdict != provider.Refused {
		t.Errorf("%+v, %v", found, err)
	}
	if found, err := (preflight{&platform{}}).addressFinding(subnet{}, nil, nil); len(found) > 0 || err != nil {
		t.Errorf("without addresses: %+v, %v", found, err)
	}
}

// TestAnUnmanagedSubnetIsRefusedBeforeAVMIsCreated with what to do, by the preflight too.
func TestAnUnmanagedSubnetIsRefusedBeforeAVMIsCreated(t *testing.T) {
	f := newFixture(t, func(s *sim.Seed) { s.Unmanaged = true })
	p := f.connected(t, func(c *provider.Config) {
		c.Spec.Network = &v1alpha1.ProviderNetworkSpec{Mode: v1alpha1.NetworkModeIPAM}
	})
	if got := checked(t, p, wantedSpec())["addresses on subnet vlan40"]; got.Verdict != provider.Refused || !strings.Contains(got.Hint, "enable IP address management") {
		t.Errorf("%+v", got)
	}
	n := address("10.40.0.61/16", "")
	s := wantedSpec(func(s *provider.MachineSpec) { s.Network = &n })
	if _, err := p.Plan(t.Context(), s, provider.Attempt{}); provider.ReasonOf(err) != provider.ReasonAddressUnsupported {
		t.Errorf("plan: %v", err)
	}
	if _, err := p.Machines.Create(t.Context(), s); provider.ReasonOf(err) != provider.ReasonAddressUnsupported {
		t.Errorf("create: %v", err)
	}
}
