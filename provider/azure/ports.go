// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/provider"
)

// need is a port that security groups have to allow.
type need struct {
	protocol string
	from, to int
	// source is a tag of Azure; empty means the machines.
	source string
	// addon: only some clusters need it.
	addon string
	use   string
}

// needs are the ports of Talos, Kubernetes and the default network addon. What clients of
// the load balancer need is opened with it.
func needs() []need {
	return []need{
		{"Tcp", 6443, 6443, fromBalancer, "", "probes of the load balancer"},
		{"Tcp", 50000, 50000, fromBalancer, "", "probes of the load balancer"},
		{"Tcp", 6443, 6443, "", "", "the Kubernetes API"},
		{"Tcp", 50000, 50001, "", "", "the Talos API and its trust service"},
		{"Tcp", 2379, 2380, "", "", "etcd"},
		{"Tcp", 10250, 10250, "", "", "the kubelet"},
		{"Udp", 8472, 8472, "", "Cilium", "the pod network"},
		{"Tcp", 4240, 4240, "", "Cilium", "health checks of the pod network"},
	}
}

func (n need) String() string {
	ports := strconv.Itoa(n.from)
	if n.to != n.from {
		ports = fmt.Sprintf("%d-%d", n.from, n.to)
	}
	return fmt.Sprintf("%s %s from %s, for %s", strings.ToLower(n.protocol), ports, cmp.Or(n.source, "the machines"), n.use)
}

// verdict is that of the first rule which concerns a need: Azure asks them in the order of
// their priority. A rule that refuses a part of it decides as well.
func verdict(rules []*armnetwork.SecurityRule, n need, machines []netip.Prefix) (allowed bool, by string) {
	rules = slices.DeleteFunc(slices.Clone(rules), func(r *armnetwork.SecurityRule) bool {
		return r.Properties == nil || value(r.Properties.Direction) != armnetwork.SecurityRuleDirectionInbound
	})
	slices.SortFunc(rules, func(a, b *armnetwork.SecurityRule) int {
		return cmp.Compare(value(a.Properties.Priority), value(b.Properties.Priority))
	})
	for _, r := range rules {
		allow := value(r.Properties.Access) == armnetwork.SecurityRuleAccessAllow
		if concerns(r.Properties, n, machines, allow) {
			return allow, value(r.Name)
		}
	}
	return false, ""
}

// concerns reports whether a rule is about a need: about all of it, or about some of it.
func concerns(r *armnetwork.SecurityRulePropertiesFormat, n need, machines []netip.Prefix, all bool) bool {
	if p := string(value(r.Protocol)); p != "*" && !strings.EqualFold(p, n.protocol) {
		return false
	}
	if !slices.ContainsFunc(portRangesOf(r), func(text string) bool { return spans(text, n, all) }) {
		return false
	}
	if len(r.SourceApplicationSecurityGroups) > 0 {
		return !all // who is in them is not read
	}
	return slices.ContainsFunc(sourcesOf(r), func(text string) bool { return comesFrom(text, n, machines, all) })
}

func spans(text string, n need, all bool) bool {
	if text == "*" {
		return true
	}
	first, last, several := strings.Cut(text, "-")
	if !several {
		last = first
	}
	from, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		return false
	}
	to, err := strconv.Atoi(strings.TrimSpace(last))
	if err != nil {
		return false
	}
	if all {
		return from <= n.from && to >= n.to
	}
	return from <= n.to && to >= n.from
}

func comesFrom(text string, n need, machines []netip.Prefix, all bool) bool {
	if text == "*" || text == "0.0.0.0/0" && n.source != fromBalancer {
		return true
	}
	if n.source != "" {
		return strings.EqualFold(text, n.source)
	}
	if strings.EqualFold(text, fromNetwork) {
		return true
	}
	range_, err := netip.ParsePrefix(text)
	if err != nil {
		return false
	}
	if all {
		return len(machines) > 0 && !slices.ContainsFunc(machines, func(m netip.Prefix) bool { return range_.Bits() > m.Bits() || !range_.Contains(m.Addr()) })
	}
	return slices.ContainsFunc(machines, range_.Overlaps)
}

// missingRules are the findings about the rules of a group: each missing one is named.
func missingRules(about string, rules []*armnetwork.SecurityRule, machines []netip.Prefix) (all []provider.Finding) {
	for _, n := range needs() {
		allowed, by := verdict(rules, n, machines)
		if allowed {
			continue
		}
		f := provider.Finding{Check: about, Verdict: provider.Refused, Message: "no rule allows " + n.String(), Hint: "add an inbound rule"}
		if by != "" {
			f.Message, f.Hint = "rule "+by+" refuses "+n.String(), "change it, or add an inbound rule with a smaller priority"
		}
		if n.addon != "" {
			f.Verdict = provider.Unknown
			f.Hint += ", unless " + n.addon + " is not installed"
		}
		all = append(all, f)
	}
	return all
}

// refusesClients reports a rule that refuses clients on the internet before the one which
// lets them connect to the load balancer.
func refusesClients(rules []*armnetwork.SecurityRule) string {
	early := slices.DeleteFunc(slices.Clone(rules), func(r *armnetwork.SecurityRule) bool {
		return r.Properties == nil || value(r.Properties.Priority) >= firstPriority
	})
	for _, p := range []int{6443, 50000} {
		if allowed, by := verdict(early, need{"Tcp", p, p, fromInternet, "", ""}, nil); !allowed && by != "" {
			return by
		}
	}
	return ""
}
