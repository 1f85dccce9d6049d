// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/provider"
)

// offers lists networks, subnets and security groups of the resource group. What may not be
// read is left out.
func (m machines) offers(ctx context.Context) (map[string][]provider.Offer, error) {
	out := map[string][]provider.Offer{}
	add := func(field, name, note string) {
		out[field] = append(out[field], provider.Offer{Value: name, Note: note})
	}
	networks, err := drain(ctx, m.clients.networks.NewListPager(m.spec.ResourceGroup, nil), func(r armnetwork.VirtualNetworksClientListResponse) []*armnetwork.VirtualNetwork { return r.Value })
	for _, n := range networks {
		if err != nil || n.Properties == nil {
			continue
		}
		add("spec.azure.vnetName", value(n.Name), "")
		for _, s := range n.Properties.Subnets {
			add("spec.azure.subnetName", value(s.Name), "of "+value(n.Name))
		}
	}
	groups, err := drain(ctx, m.groups.NewListPager(m.spec.ResourceGroup, nil), func(r armnetwork.SecurityGroupsClientListResponse) []*armnetwork.SecurityGroup { return r.Value })
	for _, g := range groups {
		if err == nil {
			add("spec.azure.securityGroupName", value(g.Name), "")
		}
	}
	return out, nil
}
