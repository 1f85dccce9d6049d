// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/butlerdotdev/butler/provider"
)

// offers lists networks, subnets, security groups and the account's own images of the
// region. What may not be read is left out.
func (m machines) offers(ctx context.Context) (map[string][]provider.Offer, error) {
	out := map[string][]provider.Offer{}
	add := func(field, id, note string) { out[field] = append(out[field], provider.Offer{Value: id, Note: note}) }
	if r, err := m.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{}); err == nil {
		for _, s := range r.Subnets {
			if vpc := (provider.Offer{Value: value(s.VpcId)}); !slices.Contains(out["spec.aws.vpcID"], vpc) {
				out["spec.aws.vpcID"] = append(out["spec.aws.vpcID"], vpc)
			}
			add("spec.aws.subnetIDs", value(s.SubnetId), fmt.Sprintf("%s, %s, %s", value(s.AvailabilityZone), value(s.CidrBlock), value(s.VpcId)))
		}
	}
	if r, err := m.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{}); err == nil {
		for _, g := range r.SecurityGroups {
			add("spec.aws.securityGroupIDs", value(g.GroupId), fmt.Sprintf("%s, %s", value(g.GroupName), value(g.VpcId)))
		}
	}
	if r, err := m.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{Owners: []string{"self"}}); err == nil {
		for _, i := range r.Images {
			add("spec.aws.ami", value(i.ImageId), value(i.Name))
		}
	}
	return out, nil
}
