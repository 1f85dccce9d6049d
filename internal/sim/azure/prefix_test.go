// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure_test

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/internal/sim/cloud/cloudtest"
)

func prefix(length int32, sku armnetwork.PublicIPPrefixSKUName) armnetwork.PublicIPPrefix {
	return armnetwork.PublicIPPrefix{
		Location: new("westeurope"), SKU: &armnetwork.PublicIPPrefixSKU{Name: &sku}, Properties: &armnetwork.PublicIPPrefixPropertiesFormat{PrefixLength: &length},
	}
}

func gateway(prefixes ...*string) armnetwork.NatGateway {
	g := armnetwork.NatGateway{Location: new("westeurope"), SKU: &armnetwork.NatGatewaySKU{Name: new(armnetwork.NatGatewaySKUNameStandard)}, Properties: &armnetwork.NatGatewayPropertiesFormat{}}
	for _, id := range prefixes {
		g.Properties.PublicIPPrefixes = append(g.Properties.PublicIPPrefixes, &armnetwork.SubResource{ID: id})
	}
	return g
}

func TestPublicPrefixesRefuse(t *testing.T) {
	f := start(t, azure.Seed{})
	c, gateways := f.net.NewPublicIPPrefixesClient(), f.net.NewNatGatewaysClient()
	_, err := c.BeginCreateOrUpdate(t.Context(), "example", "one", prefix(24, armnetwork.PublicIPPrefixSKUNameStandard), nil)
	expect(t, "too large", err, "400 InvalidRequestFormat")
	_, err = c.BeginCreateOrUpdate(t.Context(), "example", "one", prefix(30, "Basic"), nil)
	expect(t, "another SKU", err, "400 InvalidRequestFormat")
	var made []armnetwork.PublicIPPrefix
	for _, name := range []string{"one", "two"} {
		p, err := c.BeginCreateOrUpdate(t.Context(), "example", name, prefix(30, armnetwork.PublicIPPrefixSKUNameStandard), nil)
		cloudtest.Must(t, err)
		made = append(made, finish(t, p).PublicIPPrefix)
	}
	if a, b := *made[0].Properties.IPPrefix, *made[1].Properties.IPPrefix; a == b || a != "20.51.0.0/30" {
		t.Errorf("%s and %s", a, b)
	}
	p, err := gateways.BeginCreateOrUpdate(t.Context(), "example", "nat", gateway(made[0].ID), nil)
	cloudtest.Must(t, err)
	finish(t, p)
	_, err = gateways.BeginCreateOrUpdate(t.Context(), "example", "other", gateway(made[0].ID), nil)
	expect(t, "of another gateway", err, "400 PublicIpPrefixInUse")
	_, err = gateways.BeginCreateOrUpdate(t.Context(), "example", "other", gateway(new(*made[0].ID+"x")), nil)
	expect(t, "not there", err, "400 InvalidResourceReference")
	_, err = c.BeginDelete(t.Context(), "example", "one", nil)
	expect(t, "in use", err, "400 InUsePublicIpPrefixCannotBeDeleted")
	got, err := c.Get(t.Context(), "example", "one", nil)
	cloudtest.Must(t, err)
	if got.Properties.NatGateway == nil {
		t.Error("it does not name its gateway")
	}
}
