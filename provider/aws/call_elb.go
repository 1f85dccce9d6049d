// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"

// elbCalls are the operations of Elastic Load Balancing that the driver uses.
type elbCalls struct {
	CreateListener                 call[elb.CreateListenerInput, elb.CreateListenerOutput, elb.Options]
	CreateLoadBalancer             call[elb.CreateLoadBalancerInput, elb.CreateLoadBalancerOutput, elb.Options]
	CreateTargetGroup              call[elb.CreateTargetGroupInput, elb.CreateTargetGroupOutput, elb.Options]
	DeleteListener                 call[elb.DeleteListenerInput, elb.DeleteListenerOutput, elb.Options]
	DeleteLoadBalancer             call[elb.DeleteLoadBalancerInput, elb.DeleteLoadBalancerOutput, elb.Options]
	DeleteTargetGroup              call[elb.DeleteTargetGroupInput, elb.DeleteTargetGroupOutput, elb.Options]
	DeregisterTargets              call[elb.DeregisterTargetsInput, elb.DeregisterTargetsOutput, elb.Options]
	DescribeListeners              call[elb.DescribeListenersInput, elb.DescribeListenersOutput, elb.Options]
	DescribeLoadBalancerAttributes call[elb.DescribeLoadBalancerAttributesInput, elb.DescribeLoadBalancerAttributesOutput, elb.Options]
	DescribeLoadBalancers          call[elb.DescribeLoadBalancersInput, elb.DescribeLoadBalancersOutput, elb.Options]
	DescribeTags                   call[elb.DescribeTagsInput, elb.DescribeTagsOutput, elb.Options]
	DescribeTargetGroupAttributes  call[elb.DescribeTargetGroupAttributesInput, elb.DescribeTargetGroupAttributesOutput, elb.Options]
	DescribeTargetGroups           call[elb.DescribeTargetGroupsInput, elb.DescribeTargetGroupsOutput, elb.Options]
	DescribeTargetHealth           call[elb.DescribeTargetHealthInput, elb.DescribeTargetHealthOutput, elb.Options]
	ModifyLoadBalancerAttributes   call[elb.ModifyLoadBalancerAttributesInput, elb.ModifyLoadBalancerAttributesOutput, elb.Options]
	ModifyTargetGroup              call[elb.ModifyTargetGroupInput, elb.ModifyTargetGroupOutput, elb.Options]
	ModifyTargetGroupAttributes    call[elb.ModifyTargetGroupAttributesInput, elb.ModifyTargetGroupAttributesOutput, elb.Options]
	RegisterTargets                call[elb.RegisterTargetsInput, elb.RegisterTargetsOutput, elb.Options]
}

func elbCallsOf(c *elb.Client) elbCalls {
	return elbCalls{
		CreateListener:                 c.CreateListener,
		CreateLoadBalancer:             c.CreateLoadBalancer,
		CreateTargetGroup:              c.CreateTargetGroup,
		DeleteListener:                 c.DeleteListener,
		DeleteLoadBalancer:             c.DeleteLoadBalancer,
		DeleteTargetGroup:              c.DeleteTargetGroup,
		DeregisterTargets:              c.DeregisterTargets,
		DescribeListeners:              c.DescribeListeners,
		DescribeLoadBalancerAttributes: c.DescribeLoadBalancerAttributes,
		DescribeLoadBalancers:          c.DescribeLoadBalancers,
		DescribeTags:                   c.DescribeTags,
		DescribeTargetGroupAttributes:  c.DescribeTargetGroupAttributes,
		DescribeTargetGroups:           c.DescribeTargetGroups,
		DescribeTargetHealth:           c.DescribeTargetHealth,
		ModifyLoadBalancerAttributes:   c.ModifyLoadBalancerAttributes,
		ModifyTargetGroup:              c.ModifyTargetGroup,
		ModifyTargetGroupAttributes:    c.ModifyTargetGroupAttributes,
		RegisterTargets:                c.RegisterTargets,
	}
}
