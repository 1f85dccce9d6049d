// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// createGroup creates the security group of a load balancer.
func (b balancers) createGroup(ctx context.Context, s provider.LoadBalancerSpec, found *balancer) error {
	out, err := b.ec2.CreateSecurityGroup(ctx, &ec2.CreateSecurityGroupInput{
		GroupName: new(s.Name + "-lb"), Description: new("clients of load balancer " + s.Name), VpcId: &found.vpc,
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeSecurityGroup, Tags: tagList(ownerTags(s.Owner, s.Name))}},
	})
	if err != nil {
		return err
	}
	found.group = &types.SecurityGroup{GroupId: out.GroupId}
	return nil
}

// rule lets the clients of one range reach one port.
type rule struct {
	port int32
	cidr string
}

// rulesOf are the rules that a load balancer needs.
func rulesOf(s provider.LoadBalancerSpec) map[rule]bool {
	all := map[rule]bool{}
	for _, p := range cloud.Ports(s) {
		for _, r := range cloud.Clients(s) {
			all[rule{p.Port, r}] = true
		}
	}
	return all
}

// rulesIn are those that a security group has.
func rulesIn(g *types.SecurityGroup) map[rule]bool {
	all := map[rule]bool{}
	for _, p := range g.IpPermissions {
		if value(p.IpProtocol) != "tcp" || value(p.FromPort) != value(p.ToPort) {
			continue
		}
		for _, r := range p.IpRanges {
			all[rule{value(p.FromPort), value(r.CidrIp)}] = true
		}
		for _, r := range p.Ipv6Ranges {
			all[rule{value(p.FromPort), value(r.CidrIpv6)}] = true
		}
	}
	return all
}

// admit brings the rules of the security group in line with ports and ranges.
func (b balancers) admit(ctx context.Context, s provider.LoadBalancerSpec, g *types.SecurityGroup) error {
	want, have := rulesOf(s), rulesIn(g)
	if add := permissions(want, have); len(add) > 0 {
		_, err := b.ec2.AuthorizeSecurityGroupIngress(ctx, &ec2.AuthorizeSecurityGroupIngressInput{GroupId: g.GroupId, IpPermissions: add})
		if err != nil && !coded(err, "InvalidPermission.Duplicate") {
			return err
		}
	}
	drop := permissions(have, want)
	if len(drop) == 0 {
		return nil
	}
	_, err := b.ec2.RevokeSecurityGroupIngress(ctx, &ec2.RevokeSecurityGroupIngressInput{GroupId: g.GroupId, IpPermissions: drop})
	if gone(err) {
		return nil
	}
	return err
}

// permissions are the rules of some that others lack, in a fixed order.
func permissions(some, others map[rule]bool) (all []types.IpPermission) {
	rules := slices.SortedFunc(maps.Keys(some), func(a, b rule) int {
		if a.port != b.port {
			return int(a.port - b.port)
		}
		return strings.Compare(a.cidr, b.cidr)
	})
	for _, r := range rules {
		if others[r] {
			continue
		}
		p := types.IpPermission{IpProtocol: new("tcp"), FromPort: new(r.port), ToPort: new(r.port)}
		if strings.Contains(r.cidr, ":") {
			p.Ipv6Ranges = []types.Ipv6Range{{CidrIpv6: new(r.cidr)}}
		} else {
			p.IpRanges = []types.IpRange{{CidrIp: new(r.cidr)}}
		}
		all = append(all, p)
	}
	return all
}
