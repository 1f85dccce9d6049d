// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// closePorts removes listeners and target groups of ports that the spec does not have any
// more.
func (b balancers) closePorts(ctx context.Context, s provider.LoadBalancerSpec, found *balancer) error {
	wanted := map[int32]bool{}
	for _, p := range cloud.Ports(s) {
		wanted[p.Port] = true
	}
	for _, l := range found.listeners {
		if wanted[value(l.Port)] {
			continue
		}
		if _, err := b.elb.DeleteListener(ctx, &elb.DeleteListenerInput{ListenerArn: l.ListenerArn}); err != nil && !gone(err) {
			return err
		}
	}
	for _, g := range found.groups {
		if wanted[g.port] {
			continue
		}
		if err := b.deleteTargets(ctx, g.arn); err != nil && !gone(err) {
			return err
		}
	}
	return nil
}

// deleteBalancer removes the load balancer; AWS removes its listeners with it.
func (b balancers) deleteBalancer(ctx context.Context, found *balancer) error {
	_, err := b.elb.DeleteLoadBalancer(ctx, &elb.DeleteLoadBalancerInput{LoadBalancerArn: found.lb.LoadBalancerArn})
	if gone(err) {
		return nil
	}
	return err
}

func (b balancers) deleteTargets(ctx context.Context, arn string) error {
	_, err := b.elb.DeleteTargetGroup(ctx, &elb.DeleteTargetGroupInput{TargetGroupArn: &arn})
	return err
}

// deleteGroup removes the security group. AWS refuses that for some minutes after the load
// balancer is gone, as long as interfaces of it exist.
func (b balancers) deleteGroup(ctx context.Context, id string) error {
	_, err := b.ec2.DeleteSecurityGroup(ctx, &ec2.DeleteSecurityGroupInput{GroupId: &id})
	return err
}

// partGroup and partTargets are kinds of parts of a load balancer.
const (
	partGroup   = "security group"
	partTargets = "target group"
)

// List reports every load balancer of the owner, also those of which only target groups or
// a security group are left. AWS selects load balancers by no tag: all are listed.
func (b balancers) List(ctx context.Context, owner provider.Owner) ([]provider.LoadBalancer, error) {
	op := "list load balancers on " + b.config
	if err := provider.CheckOwner(op, owner); err != nil {
		return nil, err
	}
	objects, err := b.objects(ctx, owner)
	if err != nil {
		return nil, apiError(op, err)
	}
	found, err := cloud.ListBalancers(owner, objects, func(ref provider.LoadBalancerRef) (provider.LoadBalancer, error) { return b.read(ctx, ref) })
	return found, apiError(op, err)
}
