// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/provider"
)

// need is a port that a security group has to allow.
type need struct {
	protocol string
	from, to int32
	// balancer: the load balancer connects, else the machines do.
	balancer bool
	// addon: only some clusters need it.
	addon string
	use   string
}

// needs are the ports of Talos, Kubernetes and the default network addon.
func needs() []need {
	return []need{
		{"tcp", 6443, 6443, true, "", "the Kubernetes API"},
		{"tcp", 50000, 50000, true, "", "the Talos API"},
		{"tcp", 6443, 6443, false, "", "the Kubernetes API"},
		{"tcp", 50000, 50001, false, "", "the Talos API and its trust service"},
		{"tcp", 2379, 2380, false, "", "etcd"},
		{"tcp", 10250, 10250, false, "", "the kubelet"},
		{"udp", 8472, 8472, false, "Cilium", "the pod network"},
		{"tcp", 4240, 4240, false, "Cilium", "health checks of the pod network"},
	}
}

func (n need) String() string {
	ports := fmt.Sprint(n.from)
	if n.to != n.from {
		ports = fmt.Sprintf("%d-%d", n.from, n.to)
	}
	source := "the machines"
	if n.balancer {
		source = "the subnets of the load balancer"
	}
	return fmt.Sprintf("%s %s from %s, for %s", n.protocol, ports, source, n.use)
}

// allows reports whether one of the rules lets the sources reach the ports: a range that
// covers all of them, or one of the groups.
func allows(rules []types.IpPermission, n need, groups []string, sources []netip.Prefix) bool {
	return slices.ContainsFunc(rules, func(r types.IpPermission) bool { return allowsOne(r, n, groups, sources) })
}

func allowsOne(r types.IpPermission, n need, groups []string, sources []netip.Prefix) bool {
	switch p := value(r.IpProtocol); {
	case p == "-1":
	case p != n.protocol, r.FromPort == nil, r.ToPort == nil, *r.FromPort > n.from, *r.ToPort < n.to:
		return false
	}
	if !n.balancer && slices.ContainsFunc(r.UserIdGroupPairs, func(g types.UserIdGroupPair) bool { return slices.Contains(groups, value(g.GroupId)) }) {
		return true
	}
	if len(r.PrefixListIds) > 0 {
		return true // a list may have them; it is not read
	}
	return len(sources) > 0 && !slices.ContainsFunc(sources, func(s netip.Prefix) bool { return !covered(r, s) })
}

// covered reports whether a range of the rule has all addresses of the source.
func covered(r types.IpPermission, source netip.Prefix) bool {
	return slices.ContainsFunc(r.IpRanges, func(c types.IpRange) bool {
		p, err := netip.ParsePrefix(value(c.CidrIp))
		return err == nil && p.Bits() <= source.Bits() && p.Contains(source.Addr())
	})
}

// missingRules are the findings about a set of rules: each missing one is named.
func missingRules(about string, rules []types.IpPermission, groups []string, machines, balancer []netip.Prefix) []provider.Finding {
	var all []provider.Finding
	for _, n := range needs() {
		sources := machines
		if n.balancer {
			sources = balancer
		}
		if allows(rules, n, groups, sources) {
			continue
		}
		f := provider.Finding{Check: about, Verdict: provider.Refused, Message: "no rule allows " + n.String(), Hint: "add an inbound rule to one of spec.aws.securityGroupIDs"}
		if n.addon != "" {
			f.Verdict, f.Hint = provider.Unknown, "add an inbound rule, unless "+n.addon+" is not installed"
		}
		all = append(all, f)
	}
	return all
}
