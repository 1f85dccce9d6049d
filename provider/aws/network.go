// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/check"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// subnetworks looks at the subnets: whether they exist, have room, and have a way out.
func (p preflight) subnetworks(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	if len(p.spec.SubnetIDs) == 0 {
		return p.candidateSubnets(ctx)
	}
	all, err := p.subnets(ctx)
	if err != nil {
		f, err := check.Verdict("subnets "+strings.Join(p.spec.SubnetIDs, ", "), within("", err))
		return []provider.Finding{f}, err
	}
	share := make(map[string]int)
	for _, s := range specs {
		share[value(spread(all, s.Name, 0).SubnetId)]++
	}
	routes, routesErr := p.routes(ctx, value(all[0].VpcId))
	return check.Each(all, func(s types.Subnet) (provider.Finding, error) {
		id := value(s.SubnetId)
		f := cloud.Room(id, value(s.AvailabilityZone), int(value(s.AvailableIpAddressCount)), share[id], "free addresses, or add subnets to spec.aws.subnetIDs")
		if f.Verdict == provider.Passed {
			f = p.egress(id, routes, routesErr).Add(f)
		}
		return f, nil
	})
}

// egress is how machines of a subnet fetch their images.
func (p preflight) egress(subnet string, routes func(string) cloud.Way, err error) cloud.Egress {
	e := cloud.Egress{
		Public: p.spec.PublicIP, Unread: err != nil, Grant: "grant ec2:DescribeRouteTables",
		AddNAT: "add a NAT gateway, or mirror registries inside the VPC", SetPublic: "set spec.aws.publicIP, or use subnets with a NAT gateway",
	}
	if err == nil {
		e.Way = routes(subnet)
	}
	return e
}

func (p preflight) candidateSubnets(ctx context.Context) ([]provider.Finding, error) {
	input := &ec2.DescribeSubnetsInput{}
	if p.spec.VPCID != "" {
		input.Filters = []types.Filter{filter("vpc-id", p.spec.VPCID)}
	}
	out, err := p.ec2.DescribeSubnets(ctx, input)
	if err != nil {
		f, err := check.Verdict("subnets", apiError("", err))
		return []provider.Finding{f}, err
	}
	var names []string
	for _, s := range out.Subnets {
		names = append(names, fmt.Sprintf("%s (%s, %s, %s)", label(value(s.SubnetId), s.Tags), value(s.VpcId), value(s.AvailabilityZone), value(s.CidrBlock)))
	}
	return []provider.Finding{cloud.NotSet("subnets", "spec.aws.subnetIDs", names)}, nil
}

// groups looks at the security groups, and at their rules for the ports of a cluster.
func (p preflight) groups(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	if len(p.spec.SecurityGroupIDs) == 0 {
		return p.candidateGroups(ctx)
	}
	about := "security groups " + strings.Join(p.spec.SecurityGroupIDs, ", ")
	out, err := p.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{GroupIds: p.spec.SecurityGroupIDs})
	if err != nil {
		f, err := check.Verdict(about, apiError("", err))
		return []provider.Finding{f}, err
	}
	machines, balancer, err := p.sources(ctx)
	if err != nil || machines == nil {
		return nil, err
	}
	var in, egress []types.IpPermission
	for _, g := range out.SecurityGroups {
		in, egress = append(in, g.IpPermissions...), append(egress, g.IpPermissionsEgress...)
	}
	var found []provider.Finding
	if len(specs) > 0 {
		found = firewall(in, p.spec.SecurityGroupIDs, machines, balancer).Missing(about)
	}
	if len(egress) == 0 {
		found = append(found, provider.Finding{Check: about, Verdict: provider.Refused, Message: "no rule lets machines connect to anything", Hint: "add an outbound rule"})
	}
	if len(found) == 0 {
		found = append(found, provider.Finding{Check: about, Verdict: provider.Passed})
	}
	return found, nil
}

// sources are the ranges of the machines and of the load balancer; nil if the subnets are
// not there, which another check reports.
func (p preflight) sources(ctx context.Context) (machines, balancer []netip.Prefix, err error) {
	all, err := p.subnets(ctx)
	if err != nil {
		return nil, nil, cloud.Unreported(within("", err))
	}
	machines = prefixes(all)
	ids, err := balancers{p.platform}.entrances(ctx, value(all[0].VpcId), all, true)
	if err != nil {
		return nil, nil, err
	}
	at, err := p.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: ids})
	if err != nil {
		return nil, nil, err
	}
	return machines, prefixes(at.Subnets), nil
}

func prefixes(all []types.Subnet) []netip.Prefix {
	out := []netip.Prefix{}
	for _, s := range all {
		if p, err := netip.ParsePrefix(value(s.CidrBlock)); err == nil {
			out = append(out, p)
		}
	}
	return out
}

func (p preflight) candidateGroups(ctx context.Context) ([]provider.Finding, error) {
	vpc := p.spec.VPCID
	if subnets, err := p.subnets(ctx); err == nil {
		vpc = value(subnets[0].VpcId)
	}
	input := &ec2.DescribeSecurityGroupsInput{}
	if vpc != "" {
		input.Filters = []types.Filter{filter("vpc-id", vpc)}
	}
	out, err := p.ec2.DescribeSecurityGroups(ctx, input)
	if err != nil {
		f, err := check.Verdict("security groups", apiError("", err))
		return []provider.Finding{f}, err
	}
	var names []string
	for _, g := range out.SecurityGroups {
		if value(g.GroupName) != "default" {
			names = append(names, fmt.Sprintf("%s (%s)", value(g.GroupId), value(g.GroupName)))
		}
	}
	return []provider.Finding{cloud.NotSet("security groups", "spec.aws.securityGroupIDs", names)}, nil
}
