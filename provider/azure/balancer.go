// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// balancer is all that Azure holds under the name and the owner of a load balancer.
type balancer struct {
	cloud.Claim

	lb      *armnetwork.LoadBalancer
	address *armnetwork.PublicIPAddress
	// rules are those of the driver in the security group, others all of it.
	rules  []*armnetwork.SecurityRule
	others []*armnetwork.SecurityRule
}

// balancerName is the name of a load balancer on Azure.
func balancerName(name string) string { return cloud.Short(name, mostName) }

// find reads what exists of a load balancer.
func (b balancers) find(ctx context.Context, ref provider.LoadBalancerRef) (*balancer, error) {
	found := &balancer{Claim: cloud.Claim{Ref: ref}}
	for _, read := range []func(context.Context, *balancer) error{b.findBalancer, b.findAddress, b.findRules} {
		if err := read(ctx, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (b balancers) findBalancer(ctx context.Context, found *balancer) error {
	out, err := b.balancers.Get(ctx, b.spec.ResourceGroup, balancerName(found.Ref.Name), nil)
	if err != nil {
		return unlessGone(err)
	}
	if found.Owns(tagsOf(out.Tags), "load balancer "+value(out.Name)) {
		found.lb = &out.LoadBalancer
	}
	return nil
}

func (b balancers) findAddress(ctx context.Context, found *balancer) error {
	out, err := b.addresses.Get(ctx, b.spec.ResourceGroup, partName(found.Ref.Owner.ID, found.Ref.Name, suffixFrontend), nil)
	if err != nil {
		return unlessGone(err)
	}
	if owned(out.Tags, found.Ref.Owner, found.Ref.Name) {
		found.address = &out.PublicIPAddress
	}
	return nil
}

// findRules reads the security group. Rules have no tags: their names carry the mark of
// the owner.
func (b balancers) findRules(ctx context.Context, found *balancer) error {
	if b.spec.SecurityGroupName == "" {
		return nil
	}
	group, err := b.groups.Get(ctx, b.spec.ResourceGroup, b.spec.SecurityGroupName, nil)
	if err != nil {
		return unlessGone(err)
	}
	if group.Properties != nil {
		found.others = group.Properties.SecurityRules
	}
	for _, r := range found.others {
		if original(value(r.Name), found.Ref.Owner, found.Ref.Name) {
			found.rules = append(found.rules, r)
		}
	}
	return nil
}

// report returns the state. The endpoint is known as soon as Azure has allocated it.
func (f *balancer) report() provider.LoadBalancer {
	r := provider.LoadBalancer{Ref: f.Ref, State: provider.StatePending, Endpoint: f.endpoint()}
	if f.lb == nil {
		switch {
		case f.address != nil:
			r.State, r.Message = provider.StatePartial, "public address "+value(f.address.Name)+" exists without a load balancer"
		case len(f.rules) > 0:
			r.State, r.Message = provider.StatePartial, "security rule "+value(f.rules[0].Name)+" exists without a load balancer"
		default:
			r.State, r.Certain = provider.StateAbsent, true
		}
		return r
	}
	r.ID, r.Registered = value(f.lb.ID), int32(len(f.members()))
	var provisioning armnetwork.ProvisioningState
	if f.lb.Properties != nil {
		provisioning = value(f.lb.Properties.ProvisioningState)
	}
	switch {
	case provisioning == armnetwork.ProvisioningStateDeleting:
		r.State, r.Message = provider.StateDeleting, "Azure is deleting the load balancer"
	case provisioning == armnetwork.ProvisioningStateFailed:
		r.State, r.Message = provider.StatePartial, "the last change of the load balancer has failed"
	case f.public() && f.unaddressed():
		r.State, r.Message = provider.StatePartial, "the last change of the public address has failed, or it is missing"
	case f.public() && len(f.rules) == 0:
		r.State, r.Message = provider.StatePartial, "no security rule lets clients connect"
	case provisioning != armnetwork.ProvisioningStateSucceeded:
		r.Message = "the load balancer is " + strings.ToLower(string(provisioning))
	case r.Endpoint == "":
		r.Message = "the load balancer has no address yet"
	case f.exposure() != "":
		r.State, r.Message = provider.StatePartial, f.exposure()
	default:
		r.State = provider.StateRunning
	}
	return r
}

func (f *balancer) frontend() *armnetwork.FrontendIPConfigurationPropertiesFormat {
	if f.lb == nil || f.lb.Properties == nil {
		return nil
	}
	for _, c := range f.lb.Properties.FrontendIPConfigurations {
		if c.Properties != nil {
			return c.Properties
		}
	}
	return nil
}

func (f *balancer) public() bool {
	front := f.frontend()
	return front != nil && front.PublicIPAddress != nil
}

func (f *balancer) endpoint() string {
	if f.address != nil && f.address.Properties != nil {
		return value(f.address.Properties.IPAddress)
	}
	if front := f.frontend(); front != nil {
		return value(front.PrivateIPAddress)
	}
	return ""
}

// unaddressed reports whether the address has to be written: there is none, or it has failed.
func (f *balancer) unaddressed() bool {
	return f.address == nil || failed(value(f.address.Properties).ProvisioningState)
}

// members are the ids of the interfaces in the pool, in lower case.
func (f *balancer) members() (ids []string) {
	if f.lb == nil || f.lb.Properties == nil {
		return nil
	}
	for _, pool := range f.lb.Properties.BackendAddressPools {
		if pool.Properties == nil || value(pool.Name) != poolName {
			continue
		}
		for _, c := range pool.Properties.BackendIPConfigurations {
			id, _, _ := strings.Cut(strings.ToLower(value(c.ID)), "/ipconfigurations/")
			ids = append(ids, id)
		}
	}
	return ids
}

func deletingBalancer(lb armnetwork.LoadBalancer) bool {
	return lb.Properties != nil && value(lb.Properties.ProvisioningState) == armnetwork.ProvisioningStateDeleting
}

func updating(lb armnetwork.LoadBalancer) bool {
	return lb.Properties != nil && value(lb.Properties.ProvisioningState) == armnetwork.ProvisioningStateUpdating
}

func failedBalancer(lb armnetwork.LoadBalancer) bool {
	return lb.Properties == nil || value(lb.Properties.ProvisioningState) == armnetwork.ProvisioningStateFailed
}

// shape is what of a load balancer follows from its spec, for comparison. What others have
// added does not count.
func shape(lb armnetwork.LoadBalancer) string {
	var words []string
	if lb.Properties == nil {
		return ""
	}
	for _, p := range lb.Properties.BackendAddressPools {
		if value(p.Name) == poolName {
			words = append(words, "pool")
		}
	}
	for _, p := range lb.Properties.Probes {
		if q := p.Properties; q != nil && ours(p.Name) {
			words = append(words, fmt.Sprintf("probe %s %s %d %d", strings.ToLower(value(p.Name)), value(q.Protocol), value(q.Port), value(q.IntervalInSeconds)))
		}
	}
	for _, r := range lb.Properties.LoadBalancingRules {
		if q := r.Properties; q != nil && ours(r.Name) {
			words = append(words, fmt.Sprintf("rule %s %s %d-%d %t %t %d %s", strings.ToLower(value(r.Name)), value(q.Protocol), value(q.FrontendPort), value(q.BackendPort),
				value(q.EnableFloatingIP), value(q.DisableOutboundSnat), value(q.IdleTimeoutInMinutes), strings.ToLower(last(value(value(q.Probe).ID)))))
		}
	}
	return sorted(words)
}
