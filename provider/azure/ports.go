// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/provider/cloud"
)

// fromClients names the clients in findings.
const fromClients = "clients of the load balancer"

// firewall is a security group; the machines' own with the rule that a load balancer adds
// for its clients. Probes come from Azure itself.
func firewall(rules []*armnetwork.SecurityRule, machines []netip.Prefix, own bool) cloud.Firewall {
	w := cloud.Firewall{
		Machines: cloud.Source{Name: "the machines", Ranges: machines, Groups: []string{fromNetwork}},
		Balancer: []cloud.Source{{Name: "probes of the load balancer (" + fromBalancer + ")", Groups: []string{fromBalancer}}, {Name: fromClients, Groups: []string{fromInternet}}},
		Hint:     "add an inbound rule to the security group, with a smaller priority than any that refuses it",
	}
	for _, p := range []int32{6443, 50000} {
		if own {
			w.Rules = append(w.Rules, cloud.Rule{Protocol: "tcp", From: p, To: p, Groups: []string{fromInternet}, Priority: firstPriority})
		}
	}
	for _, r := range rules {
		if r.Properties != nil && value(r.Properties.Direction) == armnetwork.SecurityRuleDirectionInbound && !single(r.Properties) {
			w.Rules = append(w.Rules, rulesOf(r.Properties)...)
		}
	}
	return w
}

// single reports whether a rule is about single addresses only, as those of load balancers
// are: it says nothing about the machines.
func single(p *armnetwork.SecurityRulePropertiesFormat) bool {
	all := destinationsOf(p)
	for _, text := range all {
		_, err := netip.ParseAddr(text)
		if prefix, other := netip.ParsePrefix(text); err != nil && (other != nil || !prefix.IsSingleIP()) {
			return false
		}
	}
	return len(all) > 0
}

// rulesOf is one rule for each protocol and range of ports of a security rule.
func rulesOf(p *armnetwork.SecurityRulePropertiesFormat) (all []cloud.Rule) {
	one := cloud.Rule{Deny: value(p.Access) == armnetwork.SecurityRuleAccessDeny, Priority: value(p.Priority), Opaque: len(p.SourceApplicationSecurityGroups) > 0}
	for _, text := range sourcesOf(p) {
		if text == "*" {
			one.Ranges, one.Groups = append(one.Ranges, netip.MustParsePrefix("0.0.0.0/0")), append(one.Groups, fromNetwork, fromBalancer, fromInternet)
		} else if prefix, err := netip.ParsePrefix(text); err == nil {
			one.Ranges = append(one.Ranges, prefix)
		} else if address, err := netip.ParseAddr(text); err == nil {
			one.Ranges = append(one.Ranges, netip.PrefixFrom(address, address.BitLen()))
		} else {
			one.Groups = append(one.Groups, text)
		}
	}
	protocols := []string{strings.ToLower(string(value(p.Protocol)))}
	if protocols[0] == "*" {
		protocols = []string{"tcp", "udp"}
	}
	for _, protocol := range protocols {
		for _, text := range portRangesOf(p) {
			one.Protocol = protocol
			if one.From, one.To = span(text); one.To >= one.From {
				all = append(all, one)
			}
		}
	}
	return all
}

// span reads a port, a range of ports, or all of them; what is none is empty.
func span(text string) (from, to int32) {
	if text == "*" {
		return 0, 65535
	}
	first, last, several := strings.Cut(text, "-")
	if !several {
		last = first
	}
	a, err := strconv.ParseInt(strings.TrimSpace(first), 10, 32)
	if err != nil {
		return 1, 0
	}
	b, err := strconv.ParseInt(strings.TrimSpace(last), 10, 32)
	if err != nil {
		return 1, 0
	}
	return int32(a), int32(b)
}
