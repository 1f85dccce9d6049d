// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/provider"
)

// reasonClientsUnrestricted: a rule of the user lets in clients that are not allowed.
const reasonClientsUnrestricted = "ClientsUnrestricted"

// exposure says which rule of the user comes before the one that refuses other clients than
// those allowed, and lets some of them in; empty: none. Which ones are allowed is in the
// rules of the driver.
func (f *balancer) exposure() string {
	allow, deny := f.rule(suffixAllow), f.rule(suffixDeny)
	to, err := netip.ParseAddr(f.endpoint())
	if allow == nil || deny == nil || err != nil {
		return ""
	}
	scope := value(deny.Properties.SourceAddressPrefix)
	for _, port := range portRangesOf(deny.Properties) {
		decided := sourcesOf(allow.Properties)
		for _, r := range before(f.others, priorityOf(deny)) {
			if !concerns(r.Properties, scope, to, port) {
				continue
			}
			sources := sourcesOf(r.Properties)
			i := slices.IndexFunc(sources, func(s string) bool { return !covered(decided, s, scope) })
			if i >= 0 && value(r.Properties.Access) == armnetwork.SecurityRuleAccessAllow {
				return fmt.Sprintf("security rule %s (priority %d) lets %s connect to port %s, and allowedCIDRs does not", value(r.Name), priorityOf(r), sources[i], port)
			}
			decided = append(decided, sources...)
		}
	}
	return ""
}

// rule returns the driver's rule with this suffix, nil if there is none.
func (f *balancer) rule(suffix string) *armnetwork.SecurityRule {
	for _, r := range f.rules {
		if r.Properties != nil && strings.HasSuffix(value(r.Name), suffix) {
			return r
		}
	}
	return nil
}

// before returns the rules that decide before one of this priority, in their order.
func before(all []*armnetwork.SecurityRule, priority int32) []*armnetwork.SecurityRule {
	some := slices.DeleteFunc(slices.Clone(all), func(r *armnetwork.SecurityRule) bool { return r.Properties == nil || priorityOf(r) >= priority })
	slices.SortFunc(some, func(a, b *armnetwork.SecurityRule) int { return cmp.Compare(priorityOf(a), priorityOf(b)) })
	return some
}

// concerns reports whether a rule is about connections to a TCP port of an address, which
// belongs to the tag that its clients have.
func concerns(p *armnetwork.SecurityRulePropertiesFormat, scope string, to netip.Addr, port string) bool {
	if value(p.Direction) != armnetwork.SecurityRuleDirectionInbound || !strings.EqualFold(string(value(p.Protocol)), "tcp") && value(p.Protocol) != armnetwork.SecurityRuleProtocolAsterisk {
		return false
	}
	number, _ := span(port)
	return covered(destinationsOf(p), to.String(), scope) && slices.ContainsFunc(portRangesOf(p), func(text string) bool {
		first, last := span(text)
		return first <= number && number <= last
	})
}

// covered reports whether a list of sources or destinations has all of one. The scope is
// the tag of all that matter: Internet or VirtualNetwork.
func covered(list []string, one, scope string) bool {
	everything := func(text string) bool { return text == "*" || text == "0.0.0.0/0" || text == scope }
	prefix, isPrefix := prefixOf(one)
	switch {
	case one == fromBalancer, one == fromNetwork && scope == fromInternet, one == fromInternet && scope == fromNetwork:
		return true // none of them matters
	case isPrefix && prefix.Addr().IsPrivate() && scope == fromInternet:
		return true
	}
	return slices.ContainsFunc(list, func(text string) bool {
		has, ok := prefixOf(text)
		return everything(text) || strings.EqualFold(text, one) || !everything(one) && isPrefix && ok && has.Bits() <= prefix.Bits() && has.Contains(prefix.Addr())
	})
}

func prefixOf(text string) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p.Masked(), true
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(a, a.BitLen()), true
}

// exposed is the error of a load balancer that lets in more clients than its spec says.
func exposed(op, how string) error {
	return provider.Invalid.New(op, reasonClientsUnrestricted, errors.New(how), "remove the rule, limit it to the addresses of the machines, or give it a larger priority; else remove allowedCIDRs")
}
