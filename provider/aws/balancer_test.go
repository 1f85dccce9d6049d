// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/google/go-cmp/cmp"

	sim "github.com/butlerdotdev/butler/internal/sim/aws"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// TestALoadBalancerFollowsItsSpec changes ports, health check and ranges of one whose name
// is too long for AWS, and deletes it.
func TestALoadBalancerFollowsItsSpec(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	p := f.connected(t)
	s := provider.LoadBalancerSpec{Port: 6443, HealthCheckPort: 6443, AdditionalPorts: []int32{50000}}
	s.Name, s.Owner = strings.Repeat("long-", 12)+"lb", provider.Owner{ID: "o", ClusterID: "c", Cluster: "mgmt"}
	for _, change := range []func(){
		func() {},
		func() { s.AllowedCIDRs, s.AdditionalPorts = []string{"10.0.0.0/8", "192.0.2.0/24"}, nil },
		func() {
			s.AllowedCIDRs, s.AdditionalPorts, s.HealthCheckPort = []string{"10.0.0.0/8"}, []int32{50001}, 6444
		},
	} {
		change()
		lb, err := p.LoadBalancers.Ensure(t.Context(), s)
		if err != nil || lb.Endpoint == "" {
			t.Fatalf("ensure reports %+v: %v", lb, err)
		}
		f.follows(t, s, lb.ID)
	}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); <-time.After(50 * time.Millisecond) {
		if err := p.LoadBalancers.Delete(t.Context(), s.LoadBalancerRef); err != nil {
			t.Fatal(err)
		}
		if lb, err := p.LoadBalancers.Observe(t.Context(), s.LoadBalancerRef); err != nil || lb.State == provider.StateAbsent {
			break
		}
	}
	if left, err := p.LoadBalancers.List(t.Context(), s.Owner); err != nil || len(left) > 0 {
		t.Errorf("left: %+v, %v", left, err)
	}
}

// follows compares what the administrator sees with the spec.
func (f *fixture) follows(t *testing.T, s provider.LoadBalancerSpec, arn string) {
	t.Helper()
	var want, listening, probed []int32
	for _, p := range cloud.Ports(s) {
		want = append(want, p.Port)
	}
	listeners, err := f.elb.DescribeListeners(t.Context(), &elb.DescribeListenersInput{LoadBalancerArn: &arn})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range listeners.Listeners {
		listening = append(listening, value(l.Port))
	}
	groups, err := f.elb.DescribeTargetGroups(t.Context(), &elb.DescribeTargetGroupsInput{})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups.TargetGroups {
		probed = append(probed, value(g.Port))
		if value(g.Port) == s.Port && value(g.HealthCheckPort) != decimal(s.HealthCheckPort) {
			t.Errorf("port %d is probed on %s", s.Port, value(g.HealthCheckPort))
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(listening))) + cmp.Diff(want, slices.Sorted(slices.Values(probed))); diff != "" {
		t.Error(diff)
	}
	security, err := f.ec2.DescribeSecurityGroups(t.Context(), &ec2.DescribeSecurityGroupsInput{Filters: []types.Filter{filter("tag:"+tagName, s.Name)}})
	if err != nil || len(security.SecurityGroups) != 1 {
		t.Fatalf("%d security groups: %v", len(security.SecurityGroups), err)
	}
	if len(s.AllowedCIDRs) > 0 {
		s.AllowedCIDRs = append(slices.Clone(s.AllowedCIDRs), f.clients(t)...)
	}
	has := rulesIn(&security.SecurityGroups[0])
	if diff := cmp.Diff(rulesOf(s), has, cmp.AllowUnexported(rule{})); diff != "" {
		t.Error(diff)
	}
}

// clients are the ranges of the machines of the ProviderConfig.
func (f *fixture) clients(t *testing.T) (all []string) {
	t.Helper()
	subnets, err := f.ec2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{SubnetIds: f.seed.Subnets})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range subnets.Subnets {
		all = append(all, value(s.CidrBlock))
	}
	gateways, err := f.ec2.DescribeNatGateways(t.Context(), &ec2.DescribeNatGatewaysInput{})
	if err != nil || len(gateways.NatGateways) == 0 {
		t.Fatalf("%d NAT gateways: %v", len(gateways.NatGateways), err)
	}
	for _, g := range gateways.NatGateways {
		all = append(all, value(g.NatGatewayAddresses[0].PublicIp)+"/32")
	}
	return all
}
