// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/butlerdotdev/butler/provider"
)

// Rule is an inbound firewall rule that applies to the machines.
type Rule struct {
	// Protocol is tcp or udp; empty means all protocols and all ports.
	Protocol string
	From, To int32
	// Ranges and Groups are the sources: addresses, and what the cloud names in place of
	// them, such as security groups, network tags and service tags.
	Ranges []netip.Prefix
	Groups []string
	// Opaque says that it has further sources that are not read; they count as the right
	// ones.
	Opaque bool
	// Deny rules refuse. Of rules that match, that of the lowest Priority decides, and
	// among equals one that denies. Clouds without either leave both zero.
	Deny     bool
	Priority int32
}

// Source is where connections come from: all of the ranges, or one of the groups.
type Source struct {
	// Name is for people, such as "the subnets of the load balancer".
	Name   string
	Ranges []netip.Prefix
	Groups []string
}

// Firewall is what decides about the connections of a cluster.
type Firewall struct {
	Rules []Rule
	// Machines are the machines as sources. Balancer are those whose connections arrive
	// through the load balancer; each of them has to be allowed.
	Machines Source
	Balancer []Source
	// Hint is what to do about a missing rule, such as "add an inbound rule to …".
	Hint string
}

// Missing returns a finding for every need that the rules do not cover. What only an addon
// needs is unknown, not refused.
func (w Firewall) Missing(about string) (all []provider.Finding) {
	for _, n := range Needs() {
		sources := []Source{w.Machines}
		if n.Balancer {
			sources = w.Balancer
		}
		for _, s := range sources {
			if !Allows(w.Rules, n, s) {
				all = append(all, w.missing(about, n, s))
			}
		}
	}
	return all
}

func (w Firewall) missing(about string, n Need, s Source) provider.Finding {
	f := provider.Finding{Check: about, Verdict: provider.Refused, Message: "no rule allows " + n.from(s.Name), Hint: w.Hint}
	if n.Addon != "" {
		f.Verdict, f.Hint = provider.Unknown, "add an inbound rule, unless "+n.Addon+" is not installed"
	}
	return f
}

// Allows reports whether the rules let all of the source reach every port of the need.
func Allows(rules []Rule, n Need, s Source) bool {
	ordered := slices.SortedStableFunc(slices.Values(rules), func(a, b Rule) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(number(b.Deny), number(a.Deny)))
	})
	ranges := s.Ranges
	if len(ranges) == 0 {
		ranges = []netip.Prefix{{}} // only a group can match
	}
	for port := n.From; port <= n.To; port++ {
		for _, r := range ranges {
			if !decide(ordered, n.Protocol, port, r, s.Groups) {
				return false
			}
		}
	}
	return true
}

// decide returns what the first rule says that covers the source. A rule that denies a
// part of the source denies it.
func decide(ordered []Rule, protocol string, port int32, source netip.Prefix, groups []string) bool {
	for _, r := range ordered {
		switch {
		case r.Protocol != "" && (r.Protocol != protocol || port < r.From || port > r.To):
		case r.Deny && r.meets(source, groups):
			return false
		case !r.Deny && r.covers(source, groups):
			return true
		}
	}
	return false
}

func (r Rule) covers(source netip.Prefix, groups []string) bool {
	return r.Opaque || r.names(groups) || slices.ContainsFunc(r.Ranges, func(p netip.Prefix) bool {
		return source.IsValid() && p.Bits() <= source.Bits() && p.Contains(source.Addr())
	})
}

func (r Rule) meets(source netip.Prefix, groups []string) bool {
	return r.names(groups) || slices.ContainsFunc(r.Ranges, source.Overlaps)
}

func (r Rule) names(groups []string) bool {
	return slices.ContainsFunc(r.Groups, func(g string) bool { return slices.Contains(groups, g) })
}
