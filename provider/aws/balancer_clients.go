// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/provider"
)

// withMachines adds to the allowed ranges those that machines have as clients of the load
// balancer: their subnets, and the NAT gateways through which they reach a public one.
// Without ranges everyone is allowed.
func (b balancers) withMachines(ctx context.Context, allowed []string, vpc string, subnets []types.Subnet) ([]string, error) {
	if len(allowed) == 0 {
		return nil, nil
	}
	if b.spec.PublicIP {
		return nil, provider.Invalid.New("", provider.ReasonFieldUnsupported,
			errors.New("allowedCIDRs cannot contain the public addresses of the machines, which are not known before they run"),
			"remove allowedCIDRs or spec.aws.publicIP")
	}
	all := slices.Clone(allowed)
	for _, s := range subnets {
		all = append(all, value(s.CidrBlock))
	}
	in := &ec2.DescribeNatGatewaysInput{Filter: []types.Filter{filter("vpc-id", vpc)}}
	for more := true; more; more = value(in.NextToken) != "" {
		page, err := b.ec2.DescribeNatGateways(ctx, in)
		if err != nil {
			return nil, err
		}
		in.NextToken = page.NextToken
		for _, g := range page.NatGateways {
			all = append(all, addressesOf(g)...)
		}
	}
	return all, nil
}

// addressesOf returns the public addresses of a NAT gateway, as ranges.
func addressesOf(g types.NatGateway) (all []string) {
	for _, a := range g.NatGatewayAddresses {
		if a.PublicIp != nil && g.State != types.NatGatewayStateDeleted {
			all = append(all, *a.PublicIp+"/32")
		}
	}
	return all
}
