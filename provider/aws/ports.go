// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"net/netip"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/provider/cloud"
)

// inbound returns the inbound rules of security groups. Prefix lists are not read.
func inbound(permissions []types.IpPermission) (all []cloud.Rule) {
	for _, p := range permissions {
		r := cloud.Rule{Protocol: value(p.IpProtocol), From: value(p.FromPort), To: value(p.ToPort), Opaque: len(p.PrefixListIds) > 0}
		if r.Protocol == "-1" {
			r.Protocol = ""
		}
		for _, c := range p.IpRanges {
			if prefix, err := netip.ParsePrefix(value(c.CidrIp)); err == nil {
				r.Ranges = append(r.Ranges, prefix)
			}
		}
		for _, g := range p.UserIdGroupPairs {
			r.Groups = append(r.Groups, value(g.GroupId))
		}
		all = append(all, r)
	}
	return all
}

// firewall is what decides about connections to machines of the security groups.
func firewall(permissions []types.IpPermission, groups []string, machines, balancer []netip.Prefix) cloud.Firewall {
	return cloud.Firewall{
		Rules:    inbound(permissions),
		Machines: cloud.Source{Name: "the machines", Ranges: machines, Groups: groups},
		Balancer: []cloud.Source{{Name: "the subnets of the load balancer", Ranges: balancer}},
		Hint:     "add an inbound rule to one of spec.aws.securityGroupIDs",
	}
}
