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
)

// candidates is how many objects are named where none is set.
const candidates = 8

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
		share[value(spread(all, numberOf(s.Name), 0).SubnetId)]++
	}
	routes, routesErr := p.routes(ctx, value(all[0].VpcId))
	return check.Each(all, func(s types.Subnet) (provider.Finding, error) {
		f := room(s, share[value(s.SubnetId)])
		if f.Verdict == provider.Passed {
			f = wayOut(f, s, p.spec.PublicIP, routes, routesErr)
		}
		return f, nil
	})
}

// room compares the machines of a subnet with its free addresses.
func room(s types.Subnet, machines int) provider.Finding {
	free := value(s.AvailableIpAddressCount)
	f := provider.Finding{Check: "subnet " + value(s.SubnetId), Verdict: provider.Passed, Message: fmt.Sprintf("%s, %d addresses are free", value(s.AvailabilityZone), free)}
	if int(free) < machines {
		f.Verdict = provider.Refused
		f.Message = fmt.Sprintf("%d machines are asked for, and %d addresses are free", machines, free)
		f.Hint = "free addresses, or add subnets to spec.aws.subnetIDs"
	}
	return f
}

// wayOut warns if machines of a subnet cannot fetch images: unknown is a warning.
func wayOut(f provider.Finding, s types.Subnet, public bool, routes func(string) way, err error) provider.Finding {
	if err != nil {
		f.Verdict, f.Hint = provider.Unknown, "grant ec2:DescribeRouteTables"
		f.Message += "; whether it has a way to the internet may not be read"
		return f
	}
	switch w := routes(value(s.SubnetId)); {
	case w == wayNone:
		f.Verdict, f.Hint = provider.Unknown, "add a NAT gateway, or mirror registries inside the VPC"
		f.Message += "; it has no route to the internet, and machines fetch their images there"
	case w == wayInternet && !public:
		f.Verdict, f.Hint = provider.Unknown, "set spec.aws.publicIP, or use subnets with a NAT gateway"
		f.Message += "; its route is an internet gateway, which machines without a public address cannot use"
	default:
		f.Message += ", and it reaches the internet through " + string(w)
	}
	return f
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
	return []provider.Finding{none("subnets", "spec.aws.subnetIDs", names)}, nil
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
		found = missingRules(about, in, p.spec.SecurityGroupIDs, machines, balancer)
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
		return nil, nil, unlessReported(err)
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
	return []provider.Finding{none("security groups", "spec.aws.securityGroupIDs", names)}, nil
}
