// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/provider/cloud"
)

// tagPublic marks subnets for load balancers that clients on the internet reach.
const tagPublic = "kubernetes.io/role/elb"

// routes returns how the subnets of a VPC reach the internet: by their own route table,
// else by the main one.
func (p *platform) routes(ctx context.Context, vpc string) (func(subnet string) cloud.Way, error) {
	own, main := map[string]cloud.Way{}, cloud.WayNone
	in := &ec2.DescribeRouteTablesInput{Filters: []types.Filter{filter("vpc-id", vpc)}}
	for more := true; more; more = value(in.NextToken) != "" {
		page, err := p.ec2.DescribeRouteTables(ctx, in)
		if err != nil {
			return nil, err
		}
		in.NextToken = page.NextToken
		for _, t := range page.RouteTables {
			w := wayOf(t)
			for _, a := range t.Associations {
				if value(a.Main) {
					main = w
				}
				if a.SubnetId != nil {
					own[*a.SubnetId] = w
				}
			}
		}
	}
	return func(subnet string) cloud.Way {
		if w, ok := own[subnet]; ok {
			return w
		}
		return main
	}, nil
}

// wayOf reads the default route of a table.
func wayOf(t types.RouteTable) cloud.Way {
	for _, r := range t.Routes {
		if value(r.DestinationCidrBlock) != "0.0.0.0/0" && value(r.DestinationIpv6CidrBlock) != "::/0" || r.State == types.RouteStateBlackhole {
			continue
		}
		switch {
		case strings.HasPrefix(value(r.GatewayId), "igw-"):
			return cloud.WayInternet
		case r.NatGatewayId != nil:
			return cloud.WayNAT
		default:
			return cloud.WayOther
		}
	}
	return cloud.WayNone
}

// entrances are the subnets of a load balancer, one for each zone of the machines. One
// that clients on the internet reach needs subnets with an internet gateway: those of the
// machines, else those of the VPC that are tagged for it.
func (b balancers) entrances(ctx context.Context, vpc string, machines []types.Subnet, public bool) ([]string, error) {
	if !public {
		return perZone(machines, machines, func(types.Subnet) bool { return true }), nil
	}
	routes, err := b.routes(ctx, vpc)
	if err != nil {
		if coded(err, "UnauthorizedOperation") {
			return perZone(machines, machines, func(types.Subnet) bool { return true }), nil
		}
		return nil, err
	}
	tagged, err := b.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{Filters: []types.Filter{filter("vpc-id", vpc), filter("tag-key", tagPublic)}})
	if err != nil {
		return nil, err
	}
	candidates := append(append([]types.Subnet{}, machines...), tagged.Subnets...)
	return perZone(machines, candidates, func(s types.Subnet) bool { return routes(value(s.SubnetId)) == cloud.WayInternet }), nil
}

// perZone returns for each zone of the machines the first candidate that is accepted, else
// the machines' own subnet.
func perZone(machines, candidates []types.Subnet, accept func(types.Subnet) bool) (ids []string) {
	seen := map[string]bool{}
	for _, m := range machines {
		zone := value(m.AvailabilityZone)
		if seen[zone] {
			continue
		}
		seen[zone] = true
		chosen := value(m.SubnetId)
		for _, c := range candidates {
			if value(c.AvailabilityZone) == zone && accept(c) {
				chosen = value(c.SubnetId)
				break
			}
		}
		ids = append(ids, chosen)
	}
	return ids
}
