// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"errors"
	"slices"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// Attributes that differ from AWS' defaults.
const (
	attributeCrossZone  = "load_balancing.cross_zone.enabled"
	attributeClientIP   = "preserve_client_ip.enabled"
	attributeDeregister = "deregistration_delay.timeout_seconds"
)

func (b balancers) createBalancer(ctx context.Context, op string, s provider.LoadBalancerSpec, found *balancer, subnets []ec2types.Subnet) error {
	scheme := types.LoadBalancerSchemeEnum(s.Scheme)
	if scheme == "" {
		scheme = types.LoadBalancerSchemeEnumInternetFacing
	}
	at, err := b.entrances(ctx, found.vpc, subnets, scheme == types.LoadBalancerSchemeEnumInternetFacing)
	if err != nil {
		return err
	}
	out, err := b.elb.CreateLoadBalancer(ctx, &elb.CreateLoadBalancerInput{
		Name: new(balancerName(s.Name)), Type: types.LoadBalancerTypeEnumNetwork, Scheme: scheme, Subnets: at,
		SecurityGroups: []string{value(found.group.GroupId)}, Tags: elbTags(ownerTags(s.Owner, s.Name)),
	})
	if err != nil {
		return err
	}
	if len(out.LoadBalancers) == 0 {
		return provider.Unavailable.New(op, provider.ReasonPlatformUnavailable, errors.New("the response names no load balancer"), cloud.HintAgain)
	}
	found.lb = &out.LoadBalancers[0]
	return nil
}

// crossZones lets every zone of the load balancer reach every target.
func (b balancers) crossZones(ctx context.Context, found *balancer) error {
	out, err := b.elb.DescribeLoadBalancerAttributes(ctx, &elb.DescribeLoadBalancerAttributesInput{LoadBalancerArn: found.lb.LoadBalancerArn})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(out.Attributes, func(a types.LoadBalancerAttribute) bool {
		return value(a.Key) == attributeCrossZone && value(a.Value) == "true"
	}) {
		return nil
	}
	_, err = b.elb.ModifyLoadBalancerAttributes(ctx, &elb.ModifyLoadBalancerAttributesInput{
		LoadBalancerArn: found.lb.LoadBalancerArn, Attributes: []types.LoadBalancerAttribute{{Key: new(attributeCrossZone), Value: new("true")}},
	})
	return err
}

// servePort brings target group, targets and listener of a port in line.
func (b balancers) servePort(ctx context.Context, s provider.LoadBalancerSpec, found *balancer, p cloud.Port) error {
	group := found.targetGroup(p.Port)
	if group == nil {
		created, err := b.createTargets(ctx, s, found, p)
		if err != nil {
			return err
		}
		group = created
	}
	for _, step := range []func() error{
		func() error { return b.adjustTargets(ctx, group, p) },
		func() error { return b.adjustAttributes(ctx, group.arn) },
		func() error { return b.register(ctx, s, group) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	if found.listener(p.Port) != nil {
		return nil
	}
	_, err := b.elb.CreateListener(ctx, &elb.CreateListenerInput{
		LoadBalancerArn: found.lb.LoadBalancerArn, Port: &p.Port, Protocol: types.ProtocolEnumTcp, Tags: elbTags(ownerTags(s.Owner, s.Name)),
		DefaultActions: []types.Action{{Type: types.ActionTypeEnumForward, TargetGroupArn: &group.arn}},
	})
	return err
}

func (b balancers) createTargets(ctx context.Context, s provider.LoadBalancerSpec, found *balancer, p cloud.Port) (*targetGroup, error) {
	out, err := b.elb.CreateTargetGroup(ctx, &elb.CreateTargetGroupInput{
		Name: new(groupName(s.Name, p.Port)), Protocol: types.ProtocolEnumTcp, Port: &p.Port, VpcId: &found.vpc, TargetType: types.TargetTypeEnumInstance,
		HealthCheckProtocol: types.ProtocolEnumTcp, HealthCheckPort: new(decimal(p.Check)), HealthCheckEnabled: new(true),
		HealthCheckIntervalSeconds: new(int32(10)), HealthCheckTimeoutSeconds: new(int32(5)), HealthyThresholdCount: new(int32(2)), UnhealthyThresholdCount: new(int32(2)),
		Tags: elbTags(ownerTags(s.Owner, s.Name)),
	})
	if err != nil {
		return nil, err
	}
	if len(out.TargetGroups) == 0 {
		return nil, errors.New("the response names no target group")
	}
	g := out.TargetGroups[0]
	return &targetGroup{TargetGroup: g, arn: value(g.TargetGroupArn), port: p.Port}, nil
}

// adjustTargets brings the port of the health check in line.
func (b balancers) adjustTargets(ctx context.Context, g *targetGroup, p cloud.Port) error {
	if value(g.HealthCheckPort) == decimal(p.Check) {
		return nil
	}
	_, err := b.elb.ModifyTargetGroup(ctx, &elb.ModifyTargetGroupInput{TargetGroupArn: &g.arn, HealthCheckPort: new(decimal(p.Check))})
	return err
}

// adjustAttributes replaces the address of clients: with it, a control plane that is
// forwarded to itself gets packets with its own address, and the connection times out.
func (b balancers) adjustAttributes(ctx context.Context, arn string) error {
	out, err := b.elb.DescribeTargetGroupAttributes(ctx, &elb.DescribeTargetGroupAttributesInput{TargetGroupArn: &arn})
	if err != nil {
		return err
	}
	var change []types.TargetGroupAttribute
	for _, want := range []types.TargetGroupAttribute{
		{Key: new(attributeClientIP), Value: new("false")},
		{Key: new(attributeDeregister), Value: new("30")},
	} {
		if !slices.ContainsFunc(out.Attributes, func(a types.TargetGroupAttribute) bool {
			return value(a.Key) == value(want.Key) && value(a.Value) == value(want.Value)
		}) {
			change = append(change, want)
		}
	}
	if len(change) == 0 {
		return nil
	}
	_, err = b.elb.ModifyTargetGroupAttributes(ctx, &elb.ModifyTargetGroupAttributesInput{TargetGroupArn: &arn, Attributes: change})
	return err
}

// register brings the targets of a group in line with the spec.
func (b balancers) register(ctx context.Context, s provider.LoadBalancerSpec, g *targetGroup) error {
	var wanted []string
	for _, t := range s.Targets {
		wanted = append(wanted, t.ID)
	}
	add, drop := cloud.Difference(wanted, g.targets)
	if len(add) > 0 {
		if _, err := b.elb.RegisterTargets(ctx, &elb.RegisterTargetsInput{TargetGroupArn: &g.arn, Targets: targets(add)}); err != nil {
			return err
		}
	}
	if len(drop) == 0 {
		return nil
	}
	_, err := b.elb.DeregisterTargets(ctx, &elb.DeregisterTargetsInput{TargetGroupArn: &g.arn, Targets: targets(drop)})
	return err
}

func targets(ids []string) (all []types.TargetDescription) {
	for _, id := range ids {
		all = append(all, types.TargetDescription{Id: new(id)})
	}
	return all
}
