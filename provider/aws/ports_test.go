// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

func awsSpec() v1alpha1.AWSSpec {
	return v1alpha1.AWSSpec{Region: "eu-central-1", SubnetIDs: []string{"s"}, SecurityGroupIDs: []string{"sg-1"}}
}

// opened is a rule; source is a group or a range.
func opened(protocol string, from, to int32, source string) types.IpPermission {
	p := types.IpPermission{IpProtocol: &protocol, FromPort: &from, ToPort: &to}
	if strings.HasPrefix(source, "sg-") {
		p.UserIdGroupPairs = []types.UserIdGroupPair{{GroupId: &source}}
	} else {
		p.IpRanges = []types.IpRange{{CidrIp: &source}}
	}
	return p
}

func TestEveryMissingRuleIsNamed(t *testing.T) {
	machines, balancer := []netip.Prefix{netip.MustParsePrefix("10.0.1.0/24"), netip.MustParsePrefix("10.0.2.0/24")}, []netip.Prefix{netip.MustParsePrefix("10.0.9.0/24")}
	self := opened("-1", -1, -1, "sg-1")
	for name, c := range map[string]struct {
		rules   []types.IpPermission
		missing string // the ports of the rules that are missing
	}{
		"as documented":            {[]types.IpPermission{self, opened("tcp", 6443, 6443, "10.0.0.0/16"), opened("tcp", 50000, 50000, "10.0.0.0/16")}, ""},
		"all from the VPC":         {[]types.IpPermission{opened("-1", -1, -1, "10.0.0.0/16")}, ""},
		"nothing":                  {nil, "tcp 6443, tcp 50000, tcp 6443, tcp 50000-50001, tcp 2379-2380, tcp 10250, udp 8472, tcp 4240"},
		"the group alone":          {[]types.IpPermission{self}, "tcp 6443, tcp 50000"},
		"a group that is no one's": {[]types.IpPermission{opened("-1", -1, -1, "sg-2"), opened("tcp", 0, 65535, "10.0.0.0/8")}, "udp 8472"},
		"one of two subnets":       {[]types.IpPermission{self, opened("tcp", 6443, 6443, "10.0.9.0/25"), opened("tcp", 50000, 50000, "10.0.0.0/16")}, "tcp 6443"},
		"some ports only":          {[]types.IpPermission{opened("tcp", 2379, 2379, "sg-1"), opened("tcp", 6443, 50001, "10.0.0.0/8"), opened("udp", 8472, 8472, "sg-1"), opened("tcp", 4240, 4240, "sg-1")}, "tcp 2379-2380"},
	} {
		var got []string
		for _, f := range firewall(c.rules, []string{"sg-1"}, machines, balancer).Missing("group") {
			if f.Verdict == provider.Passed || f.Hint == "" {
				t.Errorf("%s: %+v", name, f)
			}
			words := strings.Fields(strings.TrimPrefix(f.Message, "no rule allows "))
			got = append(got, words[0]+" "+words[1])
		}
		if strings.Join(got, ", ") != c.missing {
			t.Errorf("%s: missing %v, want %s", name, got, c.missing)
		}
	}
}

func TestRulesOfALoadBalancer(t *testing.T) {
	s := provider.LoadBalancerSpec{Port: 6443, HealthCheckPort: 6443, AdditionalPorts: []int32{50000, 6443}}
	if got := rulesOf(s); len(got) != 2 || !got[rule{50000, "0.0.0.0/0"}] {
		t.Errorf("without ranges the rules are %v", got)
	}
	s.AllowedCIDRs = []string{"10.0.0.0/8", "fd00::/8"}
	want := rulesOf(s)
	have := rulesIn(&types.SecurityGroup{IpPermissions: permissions(want, nil)})
	if len(want) != 4 || len(permissions(want, have))+len(permissions(have, want)) != 0 {
		t.Errorf("the rules %v are read as %v", want, have)
	}
}
