// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/provider"
)

// createAddress creates a static public address unless it is there; one that has failed is
// written again as it is.
func (p *platform) createAddress(ctx context.Context, name, location string, tags map[string]string) error {
	found, err := p.addresses.Get(ctx, p.spec.ResourceGroup, name, nil)
	switch {
	case gone(err):
		want, err := p.wantedAddress(ctx, location, tags)
		if err != nil {
			return err
		}
		_, err = p.addresses.BeginCreateOrUpdate(ctx, p.spec.ResourceGroup, name, want, nil)
		return err
	case err != nil:
		return err
	case tagsOf(found.Tags).OwnerID != tagsOf(written(tags)).OwnerID:
		return provider.NameTaken("", "public address "+name, "name")
	case value(value(found.Properties).ProvisioningState) == armnetwork.ProvisioningStateDeleting:
		return provider.PartDeleting("", "public address "+name)
	case failed(value(found.Properties).ProvisioningState):
		_, err = p.addresses.BeginCreateOrUpdate(unchanged(ctx, found.Etag), p.spec.ResourceGroup, name, found.PublicIPAddress, nil)
	}
	return err
}

// wantedAddress is in all zones of the location: a machine keeps it when the next attempt
// is in another zone.
func (p *platform) wantedAddress(ctx context.Context, location string, tags map[string]string) (armnetwork.PublicIPAddress, error) {
	sizes, err := p.catalogue(ctx)
	return armnetwork.PublicIPAddress{
		Location: &location, Tags: written(tags), Zones: pointers(zonesOf(sizes)), SKU: &armnetwork.PublicIPAddressSKU{Name: new(armnetwork.PublicIPAddressSKUNameStandard)},
		Properties: &armnetwork.PublicIPAddressPropertiesFormat{
			PublicIPAllocationMethod: new(armnetwork.IPAllocationMethodStatic), PublicIPAddressVersion: new(armnetwork.IPVersionIPv4),
		},
	}, err
}
