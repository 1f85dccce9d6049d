// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	sim "github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/provider"
)

// TestMachinesAreInTheNetworkAndLocationOfTheSettings: two networks have a subnet of the
// same name; the location may have the spelling of Azure's tools.
func TestMachinesAreInTheNetworkAndLocationOfTheSettings(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	change, err := f.admin.clients.networks.BeginCreateOrUpdate(t.Context(), f.admin.spec.ResourceGroup, "second", armnetwork.VirtualNetwork{Location: new("westeurope"), Properties: &armnetwork.VirtualNetworkPropertiesFormat{
		AddressSpace: &armnetwork.AddressSpace{AddressPrefixes: []*string{new("10.99.0.0/16")}},
		Subnets:      []*armnetwork.Subnet{{Name: new("nodes"), Properties: &armnetwork.SubnetPropertiesFormat{AddressPrefix: new("10.99.1.0/24")}}},
	}}, nil)
	if err := finished(t.Context(), change, err); err != nil {
		t.Fatal(err)
	}
	p := f.connected(t, func(c *provider.Config) { c.Spec.Azure.VNetName, c.Spec.Azure.Location = "second", "West Europe" })
	s := cluster()[2]
	m, _ := f.created(t, p, s)
	vm, err := f.admin.vms.Get(t.Context(), f.admin.spec.ResourceGroup, s.Name, nil)
	if err != nil || value(vm.Location) != "westeurope" || !strings.HasPrefix(m.Addresses[0].String(), "10.99.1.") {
		t.Errorf("it is in %s at %v: %v", value(vm.Location), m.Addresses, err)
	}
}

// TestSettingsOfAnotherPlaceAreRefused before anything is created.
func TestSettingsOfAnotherPlaceAreRefused(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	for name, c := range map[string]struct {
		change func(*provider.Config)
		reason string
		says   string
	}{
		"a network that is not there":  {func(c *provider.Config) { c.Spec.Azure.VNetName = "other" }, provider.ReasonNetworkNotFound, "other/nodes"},
		"no network":                   {func(c *provider.Config) { c.Spec.Azure.VNetName = "" }, provider.ReasonNetworkNotFound, "spec.azure.vnetName"},
		"a location that is not there": {func(c *provider.Config) { c.Spec.Azure.Location = "marsnorth" }, provider.ReasonPlatformRefused, "correct spec.azure.location"},
	} {
		_, err := f.connected(t, c.change).Plan(t.Context(), cluster()[0], provider.Attempt{})
		if provider.ReasonOf(err) != c.reason || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f.nothingLeft(t)
}
