// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/check"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// reserved is how many addresses of a subnet Azure keeps.
const reserved = 5

// subnetwork looks at the subnet: whether it exists, has room, and has a way out.
func (p preflight) subnetwork(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	if p.spec.VNetName == "" || p.spec.SubnetName == "" {
		return p.candidateSubnets(ctx)
	}
	name := p.spec.VNetName + "/" + p.spec.SubnetName
	s, err := p.subnet(ctx)
	if err != nil {
		f, err := check.Verdict("subnet "+name, within("", err))
		return []provider.Finding{f}, err
	}
	f := cloud.Room(name, fmt.Sprint(prefixesOf(s)), free(s), len(specs), "free addresses, or set another subnet in spec.azure.subnetName")
	if f.Verdict == provider.Passed {
		f = egress(s, p.spec.PublicIP).Add(f)
	}
	return []provider.Finding{f}, nil
}

// free counts the addresses of a subnet that nothing has.
func free(s armnetwork.Subnet) (count int) {
	for _, p := range prefixesOf(s) {
		if p.Addr().Is4() {
			count += 1<<(32-p.Bits()) - reserved
		}
	}
	if s.Properties != nil {
		count -= len(s.Properties.IPConfigurations)
	}
	return max(count, 0)
}

// egress is how machines of the subnet reach the internet. Those behind a standard load
// balancer have no other way out than these.
func egress(s armnetwork.Subnet, public bool) cloud.Egress {
	e := cloud.Egress{Public: public, AddNAT: "add a NAT gateway to the subnet, or mirror registries inside the network"}
	switch {
	case s.Properties != nil && s.Properties.NatGateway != nil:
		e.Way = cloud.WayNAT
	case public:
		e.Way = "the public address of each machine"
	case s.Properties != nil && s.Properties.RouteTable != nil:
		e.Way = cloud.WayOther
	}
	return e
}

func (p preflight) candidateSubnets(ctx context.Context) ([]provider.Finding, error) {
	all, err := drain(ctx, p.clients.networks.NewListPager(p.spec.ResourceGroup, nil), func(r armnetwork.VirtualNetworksClientListResponse) []*armnetwork.VirtualNetwork { return r.Value })
	if err != nil {
		f, err := check.Verdict("subnet", apiError("", err))
		return []provider.Finding{f}, err
	}
	var names []string
	for _, n := range all {
		if n.Properties == nil {
			continue
		}
		for _, s := range n.Properties.Subnets {
			names = append(names, value(n.Name)+"/"+value(s.Name))
		}
	}
	return []provider.Finding{cloud.NotSet("subnet", "spec.azure.vnetName or spec.azure.subnetName", names)}, nil
}

// securityGroups looks at the group of the machines and at that of the subnet, which both
// have to allow the ports of a cluster.
func (p preflight) securityGroups(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	if p.spec.SecurityGroupName == "" {
		return p.candidateGroups(ctx)
	}
	ids := []string{p.resource(kindGroup, p.spec.SecurityGroupName)}
	var machines []netip.Prefix
	if s, err := p.subnet(ctx); err == nil {
		machines = prefixesOf(s)
		if s.Properties != nil && s.Properties.NetworkSecurityGroup != nil {
			ids = append(ids, value(s.Properties.NetworkSecurityGroup.ID))
		}
	}
	ids = slices.CompactFunc(ids, strings.EqualFold)
	var all []provider.Finding
	for _, id := range ids {
		found, err := p.securityGroup(ctx, id, machines, len(specs) > 0)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func (p preflight) securityGroup(ctx context.Context, id string, machines []netip.Prefix, cluster bool) ([]provider.Finding, error) {
	group, name := split(id)
	about := "security group " + name
	out, err := p.groups.Get(ctx, group, name, nil)
	if err != nil {
		f, err := check.Verdict(about, apiError("", err))
		return []provider.Finding{f}, err
	}
	var found []provider.Finding
	if out.Properties != nil && cluster && machines != nil {
		own := strings.EqualFold(id, p.resource(kindGroup, p.spec.SecurityGroupName))
		found = firewall(slices.Concat(out.Properties.SecurityRules, out.Properties.DefaultSecurityRules), machines, own).Missing(about)
		unlessInternal(found, own)
	}
	if len(found) == 0 {
		found = append(found, provider.Finding{Check: about, Verdict: provider.Passed})
	}
	return found, nil
}

// unlessInternal leaves open whether the group of the subnet, in which the driver writes no
// rules, has to let clients in: those of an internal load balancer are in the network.
func unlessInternal(found []provider.Finding, own bool) {
	for i, f := range found {
		if !own && strings.Contains(f.Message, fromClients) {
			found[i].Verdict, found[i].Hint = provider.Unknown, "add an inbound rule to the security group of the subnet, unless the load balancer is internal"
		}
	}
}

func (p preflight) candidateGroups(ctx context.Context) ([]provider.Finding, error) {
	all, err := drain(ctx, p.groups.NewListPager(p.spec.ResourceGroup, nil), func(r armnetwork.SecurityGroupsClientListResponse) []*armnetwork.SecurityGroup { return r.Value })
	if err != nil {
		f, err := check.Verdict("security group", apiError("", err))
		return []provider.Finding{f}, err
	}
	var names []string
	for _, g := range all {
		names = append(names, value(g.Name))
	}
	return []provider.Finding{cloud.NotSet("security group", "spec.azure.securityGroupName", names)}, nil
}
