// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"errors"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/butlerdotdev/butler/internal/sim/aws"
	"github.com/butlerdotdev/butler/internal/sim/cloud/cloudtest"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// balanced is a load balancer with one target and one listener.
type balanced struct{ arn, dns, targets, listener string }

func (f *fixture) balance(t *testing.T, name string, target string, subnets, groups []string) balanced {
	t.Helper()
	lb, err := f.elb.CreateLoadBalancer(t.Context(), &elb.CreateLoadBalancerInput{Name: &name, Type: elbtypes.LoadBalancerTypeEnumNetwork, Subnets: subnets, SecurityGroups: groups})
	cloudtest.Must(t, err)
	tg, err := f.elb.CreateTargetGroup(t.Context(), &elb.CreateTargetGroupInput{Name: &name, Protocol: elbtypes.ProtocolEnumTcp, Port: new(int32(cloudtest.Port)), VpcId: &f.vpc})
	cloudtest.Must(t, err)
	b := balanced{arn: *lb.LoadBalancers[0].LoadBalancerArn, dns: *lb.LoadBalancers[0].DNSName, targets: *tg.TargetGroups[0].TargetGroupArn}
	_, err = f.elb.RegisterTargets(t.Context(), &elb.RegisterTargetsInput{TargetGroupArn: &b.targets, Targets: []elbtypes.TargetDescription{{Id: &target}}})
	cloudtest.Must(t, err)
	if state, _ := f.health(t, b); state != elbtypes.TargetHealthStateEnumUnused {
		t.Errorf("without a listener the target is %s", state)
	}
	l, err := f.elb.CreateListener(t.Context(), &elb.CreateListenerInput{
		LoadBalancerArn: &b.arn, Port: new(int32(cloudtest.Port)), Protocol: elbtypes.ProtocolEnumTcp,
		DefaultActions: []elbtypes.Action{{Type: elbtypes.ActionTypeEnumForward, TargetGroupArn: &b.targets}},
	})
	cloudtest.Must(t, err)
	b.listener = *l.Listeners[0].ListenerArn
	return b
}

func (f *fixture) health(t *testing.T, b balanced) (elbtypes.TargetHealthStateEnum, elbtypes.TargetHealthReasonEnum) {
	t.Helper()
	out, err := f.elb.DescribeTargetHealth(t.Context(), &elb.DescribeTargetHealthInput{TargetGroupArn: &b.targets})
	cloudtest.Must(t, err)
	h := out.TargetHealthDescriptions[0].TargetHealth
	return h.State, h.Reason
}

func (f *fixture) healthy(t *testing.T, b balanced) {
	t.Helper()
	cloudtest.Until(t, "the target is healthy", func() bool {
		state, _ := f.health(t, b)
		return state == elbtypes.TargetHealthStateEnumHealthy
	})
}

// reach connects to a load balancer from outside.
func (f *fixture) reach(t *testing.T, b balanced) error {
	t.Helper()
	conn, err := f.Network.DialFrom(t.Context(), network.Workstation(), "tcp", net.JoinHostPort(b.dns, strconv.Itoa(cloudtest.Port)))
	if err == nil {
		_ = conn.Close()
	}
	return err
}

func TestLoadBalancerIsReachedWhereItsSubnetsAndGroupsAllow(t *testing.T) {
	f := start(t, aws.Seed{})
	id := f.run(t, "one")
	public := f.balance(t, "public", id, f.public, nil)
	f.healthy(t, public)
	if err := f.reach(t, public); err != nil {
		t.Errorf("through public subnets: %v", err)
	}
	private := f.balance(t, "private", id, []string{f.subnet}, nil)
	f.healthy(t, private)
	if err := f.reach(t, private); !errors.Is(err, syscall.ETIMEDOUT) {
		t.Errorf("through a subnet without an internet gateway: %v", err)
	}
	group, err := f.ec2.CreateSecurityGroup(t.Context(), &ec2.CreateSecurityGroupInput{GroupName: new("lb"), Description: new("lb"), VpcId: &f.vpc})
	cloudtest.Must(t, err)
	closed := f.balance(t, "closed", id, f.public, []string{*group.GroupId})
	f.healthy(t, closed)
	if err := f.reach(t, closed); !errors.Is(err, syscall.ETIMEDOUT) {
		t.Errorf("without a rule: %v", err)
	}
	_, err = f.ec2.AuthorizeSecurityGroupIngress(t.Context(), &ec2.AuthorizeSecurityGroupIngressInput{
		GroupId: group.GroupId, IpPermissions: []types.IpPermission{{
			IpProtocol: new("tcp"), FromPort: new(int32(cloudtest.Port)), ToPort: new(int32(cloudtest.Port)), IpRanges: []types.IpRange{{CidrIp: new("0.0.0.0/0")}},
		}},
	})
	cloudtest.Must(t, err)
	if err := f.reach(t, closed); err != nil {
		t.Errorf("with a rule: %v", err)
	}
}

func TestTargetWhoseGroupsDoNotLetTheLoadBalancerIn(t *testing.T) {
	f := start(t, aws.Seed{})
	groups, err := f.ec2.DescribeSecurityGroups(t.Context(), &ec2.DescribeSecurityGroupsInput{Filters: []types.Filter{where("group-name", "default"), where("vpc-id", f.vpc)}})
	cloudtest.Must(t, err)
	id := f.run(t, "one", func(in *ec2.RunInstancesInput) { in.SecurityGroupIds = []string{*groups.SecurityGroups[0].GroupId} })
	b := f.balance(t, "lb", id, f.public, nil)
	if state, reason := f.health(t, b); state != elbtypes.TargetHealthStateEnumUnhealthy || reason != elbtypes.TargetHealthReasonEnumTimeout {
		t.Errorf("the target is %s: %s", state, reason)
	}
}

func TestPartsOfALoadBalancerAreDeletedInOrder(t *testing.T) {
	f := start(t, aws.Seed{})
	group, err := f.ec2.CreateSecurityGroup(t.Context(), &ec2.CreateSecurityGroupInput{GroupName: new("lb"), Description: new("lb"), VpcId: &f.vpc})
	cloudtest.Must(t, err)
	b := f.balance(t, "lb", f.run(t, "one"), f.public, []string{*group.GroupId})
	_, err = f.elb.DeleteTargetGroup(t.Context(), &elb.DeleteTargetGroupInput{TargetGroupArn: &b.targets})
	expect(t, "a target group in use", err, "ResourceInUse")
	remove := func() error {
		_, err := f.ec2.DeleteSecurityGroup(t.Context(), &ec2.DeleteSecurityGroupInput{GroupId: group.GroupId})
		return err
	}
	expect(t, "a group in use", remove(), "DependencyViolation")
	_, err = f.elb.DeleteLoadBalancer(t.Context(), &elb.DeleteLoadBalancerInput{LoadBalancerArn: &b.arn})
	cloudtest.Must(t, err)
	expect(t, "a group of a load balancer that was just deleted", remove(), "DependencyViolation")
	_, err = f.elb.DeleteTargetGroup(t.Context(), &elb.DeleteTargetGroupInput{TargetGroupArn: &b.targets})
	cloudtest.Must(t, err)
	cloudtest.Until(t, "the interfaces are gone", func() bool { return remove() == nil })
	_, err = f.elb.DescribeLoadBalancers(t.Context(), &elb.DescribeLoadBalancersInput{LoadBalancerArns: []string{b.arn}})
	expect(t, "a deleted load balancer", err, "LoadBalancerNotFound")
	_, err = f.elb.DescribeListeners(t.Context(), &elb.DescribeListenersInput{ListenerArns: []string{b.listener}})
	expect(t, "its listener", err, "ListenerNotFound")
}

func TestCreateLoadBalancerRefuses(t *testing.T) {
	f := start(t, aws.Seed{})
	in := func(name string, subnets ...string) *elb.CreateLoadBalancerInput {
		return &elb.CreateLoadBalancerInput{Name: &name, Type: elbtypes.LoadBalancerTypeEnumNetwork, Subnets: subnets}
	}
	for range 2 { // the same again is what exists
		_, err := f.elb.CreateLoadBalancer(t.Context(), in("lb", f.public...))
		cloudtest.Must(t, err)
	}
	for _, c := range []struct {
		in   *elb.CreateLoadBalancerInput
		want string
	}{
		{in("lb", f.public[0]), "DuplicateLoadBalancerName"},
		{in(strings.Repeat("x", 33), f.public...), "ValidationError"},
		{in("-lb", f.public...), "ValidationError"},
		{in("lb_1", f.public...), "ValidationError"},
		{in("other", "subnet-0123456789abcdef0"), "SubnetNotFound"},
		{in("other", append([]string{f.subnet}, f.public...)...), "InvalidConfigurationRequest"},
	} {
		_, err := f.elb.CreateLoadBalancer(t.Context(), c.in)
		expect(t, *c.in.Name, err, c.want)
	}
	all, err := f.elb.DescribeLoadBalancers(t.Context(), &elb.DescribeLoadBalancersInput{Names: []string{"lb"}})
	cloudtest.Must(t, err)
	_, err = f.elb.SetSecurityGroups(t.Context(), &elb.SetSecurityGroupsInput{LoadBalancerArn: all.LoadBalancers[0].LoadBalancerArn, SecurityGroups: []string{f.group}})
	expect(t, "groups of one that was created without", err, "InvalidConfigurationRequest")
}
