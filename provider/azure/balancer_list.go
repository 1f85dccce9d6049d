// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// partRule is the kind of security rules.
const partRule = "security rule"

// List reports every load balancer of the owner, also those of which only an address is
// left.
func (b balancers) List(ctx context.Context, owner provider.Owner) ([]provider.LoadBalancer, error) {
	op := "list load balancers on " + b.config
	if err := provider.CheckOwner(op, owner); err != nil {
		return nil, err
	}
	objects, err := b.objects(ctx)
	if err != nil {
		return nil, apiError(op, err)
	}
	found, err := cloud.ListBalancers(owner, objects, func(ref provider.LoadBalancerRef) (provider.LoadBalancer, error) {
		one, err := b.find(ctx, ref)
		if err != nil {
			return provider.LoadBalancer{}, err
		}
		r := one.report()
		for _, rule := range one.rules { // they are not listed: they have no tags
			r.Parts = append(r.Parts, provider.Part{Kind: partRule, Name: value(rule.Name)})
		}
		return r, nil
	})
	return found, apiError(op, err)
}

// objects lists load balancers and their addresses.
func (b balancers) objects(ctx context.Context) (all []provider.Object[string], err error) {
	lbs, err := drain(ctx, b.balancers.NewListPager(b.spec.ResourceGroup, nil), func(r armnetwork.LoadBalancersClientListResponse) []*armnetwork.LoadBalancer { return r.Value })
	if err != nil {
		return nil, err
	}
	addresses, err := b.addressesIn(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range addresses {
		if strings.HasSuffix(value(a.Name), suffixFrontend) && tagsOf(a.Tags).OwnerID != "" {
			all = append(all, provider.Object[string]{Part: provider.Part{Kind: provider.PartAddress, Name: value(a.Name)}, Tags: tagsOf(a.Tags)})
		}
	}
	for _, l := range lbs {
		if tagsOf(l.Tags).OwnerID != "" {
			all = append(all, provider.Object[string]{Part: provider.Part{Kind: provider.PartLoadBalancer, Name: value(l.Name)}, Tags: tagsOf(l.Tags)})
		}
	}
	return all, nil
}
