// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"

	"github.com/butlerdotdev/butler/provider/providertest"
	"github.com/butlerdotdev/butler/provider/tag"
)

// operator sees and changes the simulated account as its administrator does. Faults are
// the simulator's.
type operator struct{ *fixture }

// CreateConflict implements providertest.Operator.
func (o operator) CreateConflict(ctx context.Context, name string) error {
	_, err := o.run(ctx, name, map[string]string{}, "")
	return err
}

// run creates an instance as the console does, with a token of its own, and waits until
// it runs.
func (o operator) run(ctx context.Context, name string, tags map[string]string, token string) (id string, err error) {
	images, err := o.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{Owners: []string{talosOwner}})
	if err != nil || len(images.Images) == 0 {
		return "", fmt.Errorf("no image: %w", err)
	}
	tags[tagName] = name
	input := &ec2.RunInstancesInput{
		MinCount: new(int32(1)), MaxCount: new(int32(1)), ImageId: images.Images[0].ImageId, InstanceType: types.InstanceTypeM5Large, SubnetId: &o.seed.Subnets[0],
	}
	if token != "" {
		input.ClientToken = &token
	}
	for _, kind := range []types.ResourceType{types.ResourceTypeInstance, types.ResourceTypeVolume} {
		input.TagSpecifications = append(input.TagSpecifications, types.TagSpecification{ResourceType: kind, Tags: tagList(tags)})
	}
	out, err := o.ec2.RunInstances(ctx, input)
	if err != nil {
		return "", err
	}
	id = value(out.Instances[0].InstanceId)
	return id, ec2.NewInstanceRunningWaiter(o.ec2, quick).Wait(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{id}}, time.Minute)
}

func quick(o *ec2.InstanceRunningWaiterOptions) {
	o.MinDelay, o.MaxDelay = 20*time.Millisecond, 100*time.Millisecond
}

// Clone implements providertest.Operator: the console's "launch more like this" copies tags.
func (o operator) Clone(ctx context.Context, name, as string) (func(), error) {
	of, err := o.instances(ctx, name)
	if err != nil || len(of) != 1 {
		return nil, fmt.Errorf("%d machines of the name: %w", len(of), err)
	}
	id, err := o.run(ctx, as, tagMap(of[0].Tags), "")
	return func() {
		_, _ = o.ec2.TerminateInstances(context.WithoutCancel(ctx), &ec2.TerminateInstancesInput{InstanceIds: []string{id}}) // what is left is seen by the next look
	}, err
}

func (o operator) instances(ctx context.Context, name string) (all []types.Instance, err error) {
	out, err := o.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{Filters: []types.Filter{filter("tag:"+tagName, name)}})
	if err != nil {
		return nil, err
	}
	for _, r := range out.Reservations {
		all = append(all, slices.DeleteFunc(r.Instances, terminated)...)
	}
	return all, nil
}

// Inspect implements providertest.Operator.
func (o operator) Inspect(ctx context.Context, name string) (s providertest.View, err error) {
	instances, err := o.instances(ctx, name)
	if err != nil {
		return s, err
	}
	for _, i := range instances {
		seen, err := o.seen(ctx, i)
		if err != nil {
			return s, err
		}
		s.Machines = append(s.Machines, seen)
	}
	named := []types.Filter{filter("tag:"+tagName, name)}
	volumes, err := o.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{Filters: named})
	if err != nil {
		return s, err
	}
	for _, v := range volumes.Volumes {
		s.Parts = append(s.Parts, value(v.VolumeId))
	}
	nics, err := o.ec2.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{Filters: named})
	if err != nil {
		return s, err
	}
	for _, n := range nics.NetworkInterfaces {
		s.Parts = append(s.Parts, value(n.NetworkInterfaceId))
	}
	return s, nil
}

func (o operator) seen(ctx context.Context, i types.Instance) (s providertest.MachineState, err error) {
	tags := tagMap(i.Tags)
	s = providertest.MachineState{ID: value(i.InstanceId), Owner: tags[tag.OwnerID], Labels: tags, Version: fmt.Sprint(tags, i.State.Name, i.InstanceType)}
	sizes, err := o.ec2.DescribeInstanceTypes(ctx, &ec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{i.InstanceType}})
	if err != nil {
		return s, err
	}
	one := sizeOf(sizes.InstanceTypes[0])
	s.CPU, s.MemoryMB = one.CPU, one.MemoryMB
	data, err := o.ec2.DescribeInstanceAttribute(ctx, &ec2.DescribeInstanceAttributeInput{InstanceId: i.InstanceId, Attribute: types.InstanceAttributeNameUserData})
	if err != nil {
		return s, err
	}
	if data.UserData != nil {
		text, err := base64.StdEncoding.DecodeString(value(data.UserData.Value))
		if err != nil {
			return s, err
		}
		s.UserData = string(text)
	}
	volumes, err := o.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{Filters: []types.Filter{filter("attachment.instance-id", s.ID)}})
	if err != nil {
		return s, err
	}
	for _, v := range volumes.Volumes {
		if value(v.Attachments[0].Device) == value(i.RootDeviceName) {
			s.DiskGB = value(v.Size)
		} else {
			s.ExtraDisksGB = append(s.ExtraDisksGB, value(v.Size))
		}
	}
	return s, nil
}

// InspectBalancers implements providertest.LoadBalancerOperator.
func (o operator) InspectBalancers(ctx context.Context, name string) (s providertest.BalancerView, err error) {
	all, err := o.elb.DescribeLoadBalancers(ctx, &elb.DescribeLoadBalancersInput{})
	if err != nil {
		return s, err
	}
	for _, l := range all.LoadBalancers {
		if value(l.LoadBalancerName) != name {
			continue
		}
		seen, err := o.seenBalancer(ctx, value(l.LoadBalancerArn))
		if err != nil {
			return s, err
		}
		s.Balancers = append(s.Balancers, seen)
	}
	groups, err := o.elb.DescribeTargetGroups(ctx, &elb.DescribeTargetGroupsInput{})
	if err != nil {
		return s, err
	}
	for _, g := range groups.TargetGroups {
		if strings.HasPrefix(value(g.TargetGroupName), name) {
			s.Parts = append(s.Parts, value(g.TargetGroupName))
		}
	}
	security, err := o.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: []types.Filter{filter("tag:"+tagName, name)}})
	if err != nil {
		return s, err
	}
	for _, g := range security.SecurityGroups {
		s.Parts = append(s.Parts, value(g.GroupId))
		for i := range s.Balancers {
			s.Balancers[i].AllowedCIDRs = allowedClients(g)
		}
	}
	return s, nil
}

// allowedClients are those that the rules of a security group name; none if all may connect.
func allowedClients(g types.SecurityGroup) (out []string) {
	for _, p := range g.IpPermissions {
		for _, r := range p.IpRanges {
			if cidr := value(r.CidrIp); cidr != "0.0.0.0/0" && !slices.Contains(out, cidr) {
				out = append(out, cidr)
			}
		}
	}
	return out
}

func (o operator) seenBalancer(ctx context.Context, arn string) (s providertest.BalancerState, err error) {
	tags, err := o.elb.DescribeTags(ctx, &elb.DescribeTagsInput{ResourceArns: []string{arn}})
	if err != nil {
		return s, err
	}
	for _, t := range tags.TagDescriptions[0].Tags {
		if value(t.Key) == tag.OwnerID {
			s.Owner = value(t.Value)
		}
	}
	listeners, err := o.elb.DescribeListeners(ctx, &elb.DescribeListenersInput{LoadBalancerArn: &arn})
	if err != nil || len(listeners.Listeners) == 0 {
		return s, err
	}
	for _, l := range listeners.Listeners {
		s.Ports = append(s.Ports, value(l.Port))
	}
	s.Port = slices.Min(s.Ports)
	health, err := o.elb.DescribeTargetHealth(ctx, &elb.DescribeTargetHealthInput{TargetGroupArn: listeners.Listeners[0].DefaultActions[0].TargetGroupArn})
	if err != nil {
		return s, err
	}
	for _, h := range health.TargetHealthDescriptions {
		if h.TargetHealth.State != "draining" {
			s.Targets = append(s.Targets, value(h.Target.Id))
		}
	}
	return s, nil
}
