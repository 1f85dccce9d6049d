// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
	"github.com/butlerdotdev/butler/provider/tag"
)

// balancer is all that AWS holds under the name and the owner of a load balancer.
type balancer struct {
	cloud.Claim

	lb        *types.LoadBalancer
	group     *ec2types.SecurityGroup
	groups    []targetGroup
	listeners []types.Listener
	vpc       string
}

// targetGroup is one port of a load balancer.
type targetGroup struct {
	types.TargetGroup
	arn  string
	port int32
	// targets are those that are registered and not on their way out.
	targets []string
}

// find reads what exists of a load balancer.
func (b balancers) find(ctx context.Context, ref provider.LoadBalancerRef) (*balancer, error) {
	found := &balancer{Claim: cloud.Claim{Ref: ref}}
	for _, read := range []func(context.Context, *balancer) error{b.findBalancer, b.findTargets, b.findGroup} {
		if err := read(ctx, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (b balancers) findBalancer(ctx context.Context, found *balancer) error {
	out, err := b.elb.DescribeLoadBalancers(ctx, &elb.DescribeLoadBalancersInput{Names: []string{balancerName(found.Ref.Name)}})
	if gone(err) || err == nil && len(out.LoadBalancers) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	lb := out.LoadBalancers[0]
	tags, err := b.tagsByARN(ctx, value(lb.LoadBalancerArn))
	if err != nil || !found.Owns(tag.AWS().Read(tags[value(lb.LoadBalancerArn)]), "load balancer "+value(lb.LoadBalancerName)) {
		return err
	}
	found.lb = &lb
	listeners, err := b.elb.DescribeListeners(ctx, &elb.DescribeListenersInput{LoadBalancerArn: lb.LoadBalancerArn})
	if gone(err) {
		return nil
	}
	if err == nil {
		found.listeners = listeners.Listeners
	}
	return err
}

// findTargets reads the target groups with names of this load balancer.
func (b balancers) findTargets(ctx context.Context, found *balancer) error {
	all, err := b.targetGroups(ctx)
	if err != nil {
		return err
	}
	byARN := map[string]types.TargetGroup{}
	for _, g := range all {
		if ofBalancer(value(g.TargetGroupName), found.Ref.Name) {
			byARN[value(g.TargetGroupArn)] = g
		}
	}
	arns := slices.Sorted(maps.Keys(byARN))
	tags, err := b.tagsByARN(ctx, arns...)
	if err != nil {
		return err
	}
	for _, arn := range arns {
		g := targetGroup{TargetGroup: byARN[arn], arn: arn, port: value(byARN[arn].Port)}
		if !found.Owns(tag.AWS().Read(tags[arn]), "target group "+value(g.TargetGroupName)) {
			continue
		}
		if g.targets, err = b.registered(ctx, arn); err != nil {
			return err
		}
		found.groups = append(found.groups, g)
	}
	return nil
}

func (b balancers) findGroup(ctx context.Context, found *balancer) error {
	if found.Ref.Owner.ID == "" {
		return nil
	}
	out, err := b.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: []ec2types.Filter{filter("tag:"+tag.OwnerID, found.Ref.Owner.ID)}})
	if err != nil {
		return err
	}
	for _, g := range out.SecurityGroups {
		if tagsOf(g.Tags).Machine == found.Ref.Name {
			found.group = &g
		}
	}
	return nil
}

// report returns the state. The endpoint is known as soon as AWS has named it.
func (f *balancer) report() provider.LoadBalancer {
	r := provider.LoadBalancer{Ref: f.Ref, State: provider.StatePending}
	if f.lb == nil {
		r.State = provider.StateAbsent
		if len(f.groups) > 0 || f.group != nil {
			r.State, r.Message = provider.StatePartial, "security group or target groups exist without a load balancer"
		}
		r.Certain = r.State == provider.StateAbsent
		return r
	}
	r.ID, r.Endpoint, r.Registered = value(f.lb.LoadBalancerArn), value(f.lb.DNSName), f.registered()
	var state types.LoadBalancerStateEnum
	if f.lb.State != nil {
		state = f.lb.State.Code
	}
	switch missing := f.unserved(); {
	case state == types.LoadBalancerStateEnumFailed:
		r.State, r.Message = provider.StateBroken, "AWS could not set up the load balancer: "+value(f.lb.State.Reason)
	case missing != "":
		r.State, r.Message = provider.StatePartial, missing
	case state == types.LoadBalancerStateEnumProvisioning:
		r.Message = "AWS is setting up the load balancer, which takes a few minutes"
	default:
		r.State = provider.StateRunning
	}
	return r
}

// unserved says which part lacks its counterpart.
func (f *balancer) unserved() string {
	if len(f.groups) == 0 || len(f.listeners) == 0 {
		return "the load balancer has no listener or no target group"
	}
	for _, g := range f.groups {
		if f.listener(g.port) == nil {
			return fmt.Sprintf("port %d has a target group and no listener", g.port)
		}
	}
	return ""
}

// registered counts the targets that every port has.
func (f *balancer) registered() int32 {
	least := -1
	for _, g := range f.groups {
		if least < 0 || len(g.targets) < least {
			least = len(g.targets)
		}
	}
	return int32(max(least, 0))
}

func (f *balancer) listener(port int32) *types.Listener {
	for i := range f.listeners {
		if value(f.listeners[i].Port) == port {
			return &f.listeners[i]
		}
	}
	return nil
}

func (f *balancer) targetGroup(port int32) *targetGroup {
	for i := range f.groups {
		if f.groups[i].port == port {
			return &f.groups[i]
		}
	}
	return nil
}

// targetGroups lists those of the account: AWS selects them by neither tag nor prefix.
func (b balancers) targetGroups(ctx context.Context) (all []types.TargetGroup, err error) {
	in := &elb.DescribeTargetGroupsInput{PageSize: new(int32(400))}
	for more := true; more; more = value(in.Marker) != "" {
		page, err := b.elb.DescribeTargetGroups(ctx, in)
		if err != nil {
			return nil, err
		}
		in.Marker = page.NextMarker
		all = append(all, page.TargetGroups...)
	}
	return all, nil
}

// mostARNs is how many objects one request reads the tags of.
const mostARNs = 20

func (b balancers) tagsByARN(ctx context.Context, arns ...string) (map[string]map[string]string, error) {
	all := map[string]map[string]string{}
	for some := range slices.Chunk(arns, mostARNs) {
		out, err := b.elb.DescribeTags(ctx, &elb.DescribeTagsInput{ResourceArns: some})
		if gone(err) {
			continue // one of them was just deleted; the next look reads the others
		}
		if err != nil {
			return nil, err
		}
		for _, d := range out.TagDescriptions {
			tags := map[string]string{}
			for _, t := range d.Tags {
				tags[value(t.Key)] = value(t.Value)
			}
			all[value(d.ResourceArn)] = tags
		}
	}
	return all, nil
}

// registered returns the targets of a group that are not on their way out.
func (b balancers) registered(ctx context.Context, arn string) (ids []string, err error) {
	out, err := b.elb.DescribeTargetHealth(ctx, &elb.DescribeTargetHealthInput{TargetGroupArn: &arn})
	if gone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, t := range out.TargetHealthDescriptions {
		if t.Target != nil && (t.TargetHealth == nil || t.TargetHealth.State != types.TargetHealthStateEnumDraining) {
			ids = append(ids, value(t.Target.Id))
		}
	}
	slices.Sort(ids)
	return ids, nil
}

func elbTags(tags map[string]string) (all []types.Tag) {
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		all = append(all, types.Tag{Key: new(k), Value: new(tags[k])})
	}
	return all
}

// ofBalancer reports whether a target group has the name of one of the load balancer's.
func ofBalancer(group, name string) bool {
	prefix, port, ok := cutLast(group, "-")
	return ok && prefix == cloud.Short(name, 26) && strings.Trim(port, "0123456789") == ""
}
