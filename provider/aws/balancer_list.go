// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

// objects lists load balancers, target groups and security groups of an owner.
func (b balancers) objects(ctx context.Context, owner provider.Owner) (all []provider.Object[string], err error) {
	names := map[string]provider.Part{}
	var arns []string
	in := &elb.DescribeLoadBalancersInput{PageSize: new(int32(400))}
	for more := true; more; more = value(in.Marker) != "" {
		page, err := b.elb.DescribeLoadBalancers(ctx, in)
		if err != nil {
			return nil, err
		}
		in.Marker = page.NextMarker
		for _, l := range page.LoadBalancers {
			arns = append(arns, value(l.LoadBalancerArn))
			names[value(l.LoadBalancerArn)] = provider.Part{Kind: provider.PartLoadBalancer, Name: value(l.LoadBalancerName)}
		}
	}
	groups, err := b.targetGroups(ctx)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		arns = append(arns, value(g.TargetGroupArn))
		names[value(g.TargetGroupArn)] = provider.Part{Kind: partTargets, Name: value(g.TargetGroupName)}
	}
	tags, err := b.tagsByARN(ctx, arns...)
	if err != nil {
		return nil, err
	}
	for _, arn := range arns {
		set := tag.AWS().Read(tags[arn])
		if set.OwnerID != "" && provider.OwnerOf(set).Matches(provider.Owner{ID: owner.ID, ClusterID: owner.ClusterID}) {
			all = append(all, provider.Object[string]{Part: names[arn], Tags: set, Of: arn})
		}
	}
	return b.withGroups(ctx, all, owner)
}

// withGroups adds the security groups of load balancers.
func (b balancers) withGroups(ctx context.Context, all []provider.Object[string], owner provider.Owner) ([]provider.Object[string], error) {
	in := &ec2.DescribeSecurityGroupsInput{Filters: ownedBy(owner), MaxResults: new(int32(500))}
	for more := true; more; more = value(in.NextToken) != "" {
		page, err := b.ec2.DescribeSecurityGroups(ctx, in)
		if err != nil {
			return nil, err
		}
		in.NextToken = page.NextToken
		for _, g := range page.SecurityGroups {
			part := provider.Part{Kind: partGroup, Name: label(value(g.GroupId), g.Tags)}
			all = append(all, provider.Object[string]{Part: part, Tags: tagsOf(g.Tags), Of: value(g.GroupId)})
		}
	}
	return all, nil
}
