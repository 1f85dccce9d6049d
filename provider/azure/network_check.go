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
)

// candidates is how many objects are named where none is set.
const candidates = 8

// reserved is how many addresses of a subnet Azure keeps.
const reserved = 5

// unlessReported is the error of a lookup that no other check turns into a finding.
func unlessReported(err error) error {
	_, err = check.Verdict("", within("", err))
	return err
}

// subnetwork looks at the subnet: whether it exists, has room, and has a way out.
func (p preflight) subnetwork(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	if p.spec.VNetName == "" || p.spec.SubnetName == "" {
		return p.candidateSubnets(ctx)
	}
	about := "subnet " + p.spec.VNetName + "/" + p.spec.SubnetName
	s, err := p.subnet(ctx)
	if err != nil {
		f, err := check.Verdict(about, within("", err))
		return []provider.Finding{f}, err
	}
	f := room(about, s, len(specs))
	if f.Verdict == provider.Passed {
		f = wayOut(f, s, p.spec.PublicIP)
	}
	return []provider.Finding{f}, nil
}

// room compares the machines with the free addresses of the subnet.
func room(about string, s armnetwork.Subnet, machines int) provider.Finding {
	free := 0
	for _, p := range prefixesOf(s) {
		if p.Addr().Is4() {
			free += 1<<(32-p.Bits()) - reserved
		}
	}
	if s.Properties != nil {
		free -= len(s.Properties.IPConfigurations)
	}
	f := provider.Finding{Check: about, Verdict: provider.Passed, Message: fmt.Sprintf("%d addresses are free", max(free, 0))}
	if free < machines {
		f.Verdict, f.Hint = provider.Refused, "free addresses, or use another subnet"
		f.Message = fmt.Sprintf("%d machines are asked for, and %d addresses are free", machines, max(free, 0))
	}
	return f
}

// wayOut warns if machines of a subnet cannot fetch images: unknown is a warning. Machines
// behind a standard load balancer have no other way out than these.
func wayOut(f provider.Finding, s armnetwork.Subnet, public bool) provider.Finding {
	switch {
	case s.Properties != nil && s.Properties.NatGateway != nil:
		f.Message += ", and it reaches the internet through a NAT gateway"
	case public:
		f.Message += ", and each machine reaches the internet by its public address"
	case s.Properties != nil && s.Properties.RouteTable != nil:
		f.Verdict, f.Hint = provider.Unknown, "make sure that its route table leads to a firewall or a proxy that machines can use"
		f.Message += "; whether its route table has a way to the internet is not known"
	default:
		f.Verdict, f.Hint = provider.Unknown, "add a NAT gateway to the subnet, or mirror registries inside the network"
		f.Message += "; it has no NAT gateway, and machines fetch their images from the internet"
	}
	return f
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
	return []provider.Finding{none("subnet", "spec.azure.vnetName or spec.azure.subnetName", names)}, nil
}

// none refuses settings without an entry, and names those that could be meant.
func none(about, field string, names []string) provider.Finding {
	f := provider.Finding{Check: about, Verdict: provider.Refused, Message: field + " is empty, and nothing is taken by default", Hint: "set it"}
	if len(names) > candidates {
		names = append(names[:candidates], fmt.Sprintf("and %d more", len(names)-candidates))
	}
	if len(names) > 0 {
		f.Hint = "set it, for example to " + strings.Join(names, ", ")
	}
	return f
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
	_, group, name := split(id)
	about := "security group " + name
	out, err := p.groups.Get(ctx, group, name, nil)
	if err != nil {
		f, err := check.Verdict(about, apiError("", err))
		return []provider.Finding{f}, err
	}
	var found []provider.Finding
	if out.Properties != nil && cluster && machines != nil {
		rules := slices.Concat(out.Properties.SecurityRules, out.Properties.DefaultSecurityRules)
		found = missingRules(about, rules, machines)
		if by := refusesClients(rules); by != "" {
			found = append(found, provider.Finding{Check: about, Verdict: provider.Refused, Message: "rule " + by + " refuses clients of the load balancer before the rule that is added for them", Hint: fmt.Sprintf("give it a priority above %d", firstPriority+100)})
		}
	}
	if len(found) == 0 {
		found = append(found, provider.Finding{Check: about, Verdict: provider.Passed})
	}
	return found, nil
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
	return []provider.Finding{none("security group", "spec.azure.securityGroupName", names)}, nil
}
