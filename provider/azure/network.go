// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"errors"
	"net/netip"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/provider"
)

// subnetID is the id of the machines' subnet.
func (p *platform) subnetID() string {
	return p.resource(kindNetwork, p.spec.VNetName) + "/subnets/" + p.spec.SubnetName
}

// subnet reads the subnet of the settings.
func (p *platform) subnet(ctx context.Context) (armnetwork.Subnet, error) {
	if p.spec.VNetName == "" || p.spec.SubnetName == "" {
		return armnetwork.Subnet{}, provider.Invalid.New("", provider.ReasonNetworkNotFound, errors.New("spec.azure.vnetName or spec.azure.subnetName is empty"), "set both: no network is used by default; the preflight lists candidates")
	}
	return p.networks.Get(ctx, "", func(ctx context.Context) (armnetwork.Subnet, error) {
		found, err := p.subnets.Get(ctx, p.spec.ResourceGroup, p.spec.VNetName, p.spec.SubnetName, nil)
		if notFound(err) {
			err = provider.Invalid.New("", provider.ReasonNetworkNotFound, errors.New("the resource group has no subnet "+p.spec.VNetName+"/"+p.spec.SubnetName), "correct spec.azure.vnetName and spec.azure.subnetName")
		}
		return found.Subnet, err
	})
}

// prefixesOf are the ranges of a subnet.
func prefixesOf(s armnetwork.Subnet) (all []netip.Prefix) {
	if s.Properties == nil {
		return nil
	}
	texts := values(s.Properties.AddressPrefixes)
	if one := value(s.Properties.AddressPrefix); one != "" && len(texts) == 0 {
		texts = []string{one}
	}
	for _, t := range texts {
		if p, err := netip.ParsePrefix(t); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// gateway reads the NAT gateway of a subnet, nil if it has none.
func (p *platform) gateway(ctx context.Context, s armnetwork.Subnet) (*armnetwork.NatGateway, error) {
	if s.Properties == nil || s.Properties.NatGateway == nil {
		return nil, nil
	}
	group, name := split(value(s.Properties.NatGateway.ID))
	found, err := p.gateways.Get(ctx, group, name, nil)
	if gone(err) {
		return nil, nil
	}
	return &found.NatGateway, err
}

// exits returns the public addresses with which machines of a subnet reach the internet,
// as ranges.
func (p *platform) exits(ctx context.Context, s armnetwork.Subnet) (all []string, err error) {
	g, err := p.gateway(ctx, s)
	if err != nil || g == nil || g.Properties == nil {
		return nil, err
	}
	for _, a := range g.Properties.PublicIPAddresses {
		group, name := split(value(a.ID))
		found, err := p.addresses.Get(ctx, group, name, nil)
		if err != nil {
			return nil, err
		}
		if found.Properties != nil && value(found.Properties.IPAddress) != "" {
			all = append(all, value(found.Properties.IPAddress)+"/32")
		}
	}
	for _, a := range g.Properties.PublicIPPrefixes {
		group, name := split(value(a.ID))
		found, err := p.prefixes.Get(ctx, group, name, nil)
		if err != nil {
			return nil, err
		}
		if found.Properties != nil && value(found.Properties.IPPrefix) != "" {
			all = append(all, value(found.Properties.IPPrefix))
		}
	}
	return all, nil
}
