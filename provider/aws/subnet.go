// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// subnets returns the subnets of the settings in their order. All are in one VPC.
func (p *platform) subnets(ctx context.Context) ([]types.Subnet, error) {
	if len(p.spec.SubnetIDs) == 0 {
		return nil, provider.Invalid.New("", provider.ReasonNetworkNotFound, errors.New("spec.aws.subnetIDs is empty"), "set it: machines are never created in a default network; the preflight lists candidates")
	}
	all, err := p.networks.Get(ctx, "", p.readSubnets)
	if err != nil {
		return nil, err
	}
	return all, p.oneNetwork(all)
}

func (p *platform) readSubnets(ctx context.Context) ([]types.Subnet, error) {
	out, err := p.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: p.spec.SubnetIDs})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out.Subnets, func(a, b types.Subnet) int {
		return slices.Index(p.spec.SubnetIDs, value(a.SubnetId)) - slices.Index(p.spec.SubnetIDs, value(b.SubnetId))
	})
	return out.Subnets, nil
}

// oneNetwork refuses subnets of several VPCs: machines and load balancer would not reach
// each other.
func (p *platform) oneNetwork(all []types.Subnet) error {
	for _, s := range all {
		wanted := p.spec.VPCID
		if wanted == "" {
			wanted = value(all[0].VpcId)
		}
		if value(s.VpcId) != wanted {
			return provider.Invalid.New("", provider.ReasonNetworkNotFound, fmt.Errorf("subnet %s is in %s, not in %s", value(s.SubnetId), value(s.VpcId), wanted), "use subnets of one VPC, that of spec.aws.vpcID if it is set")
		}
	}
	return nil
}

// checkGroups refuses settings without security groups: the VPC's default one lets machines
// reach everything that others have put there.
func (p *platform) checkGroups() error {
	if len(p.spec.SecurityGroupIDs) > 0 {
		return nil
	}
	return provider.Invalid.New("", provider.ReasonNetworkNotFound, errors.New("spec.aws.securityGroupIDs is empty"), "set it: the default security group is never used; the preflight lists candidates")
}

// spread returns the subnet of a machine's attempt.
func spread(all []types.Subnet, machine string, attempt int) types.Subnet {
	return cloud.Spread(all, zoneOfSubnet, cloud.NumberOf(machine), attempt)
}

func zoneOfSubnet(s types.Subnet) string { return value(s.AvailabilityZone) }

// hasIPv6 reports whether machines of the subnet get an IPv6 address.
func hasIPv6(s types.Subnet) bool {
	return slices.ContainsFunc(s.Ipv6CidrBlockAssociationSet, func(a types.SubnetIpv6CidrBlockAssociation) bool {
		return a.Ipv6CidrBlockState != nil && strings.HasPrefix(string(a.Ipv6CidrBlockState.State), "associat")
	})
}
