// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// Tags of Azure for sources of traffic.
const (
	fromInternet = "Internet"
	fromNetwork  = "VirtualNetwork"
	fromBalancer = "Azure" + "LoadBalancer" // a service tag, no reason
)

// firstPriority is where rules of the driver begin. The cloud controller manager begins
// its own at 500.
const firstPriority = 2000

// clientsOf returns the sources that may connect to the load balancer; none means that no
// rule is needed. A load balancer of Azure has no security group: it keeps the addresses of
// clients, and the security group of the machines decides. Machines are clients as well: by
// their subnet, and by the NAT gateway through which they reach a public address.
func (b balancers) clientsOf(ctx context.Context, s provider.LoadBalancerSpec, subnet armnetwork.Subnet) ([]string, error) {
	switch {
	case len(s.AllowedCIDRs) == 0 && internal(s.Scheme):
		return nil, nil // the default rules of every group let the network in
	case len(s.AllowedCIDRs) == 0:
		return []string{fromInternet}, nil
	case b.spec.PublicIP:
		return nil, provider.Invalid.New("", provider.ReasonFieldUnsupported,
			errors.New("allowedCIDRs cannot contain the public addresses of the machines, which are not known before they run"), "remove allowedCIDRs or spec.azure.publicIP")
	}
	all := slices.Clone(s.AllowedCIDRs)
	for _, p := range prefixesOf(subnet) {
		all = append(all, p.String())
	}
	exits, err := b.exits(ctx, subnet)
	all = append(all, exits...)
	return apart(all), err
}

// apart returns prefixes of which none contains another: Azure refuses a rule with sources
// that overlap.
func apart(texts []string) (out []string) {
	var all []netip.Prefix
	for _, text := range texts {
		if p, err := netip.ParsePrefix(text); err == nil {
			all = append(all, p.Masked())
		} else if a, err := netip.ParseAddr(text); err == nil {
			all = append(all, netip.PrefixFrom(a, a.BitLen()))
		}
	}
	slices.SortFunc(all, func(p, q netip.Prefix) int { return p.Bits() - q.Bits() })
	var kept []netip.Prefix
	for _, p := range all {
		if !slices.ContainsFunc(kept, p.Overlaps) {
			kept, out = append(kept, p), append(out, p.String())
		}
	}
	slices.Sort(out)
	return out
}

// ensureRules brings the security rules in line: one that lets clients connect to the
// ports and, if only some may, one that refuses the others.
func (b balancers) ensureRules(ctx context.Context, s provider.LoadBalancerSpec, found *balancer, clients []string) error {
	if b.spec.SecurityGroupName == "" {
		return provider.Invalid.New("", provider.ReasonNetworkNotFound, errors.New("spec.azure.securityGroupName is empty"), "set it; the preflight lists candidates")
	}
	want := map[string]*armnetwork.SecurityRule{}
	if len(clients) > 0 {
		if found.endpoint() == "" {
			return provider.Unavailable.New("", provider.ReasonPlatformConflict, errors.New("the address of the load balancer is not known yet"), cloud.HintAgain)
		}
		at := freePriority(found.others, found.rules)
		allow := securityRule(s, found.endpoint(), suffixAllow, armnetwork.SecurityRuleAccessAllow, clients, at)
		want[value(allow.Name)] = allow
		if len(s.AllowedCIDRs) > 0 {
			others := fromInternet
			if internal(s.Scheme) {
				others = fromNetwork
			}
			deny := securityRule(s, found.endpoint(), suffixDeny, armnetwork.SecurityRuleAccessDeny, []string{others}, at+1)
			want[value(deny.Name)] = deny
		}
	}
	for _, r := range found.rules {
		if want[value(r.Name)] == nil {
			if err := b.dropRule(ctx, value(r.Name)); err != nil {
				return err
			}
		} else if sameRule(r, want[value(r.Name)]) {
			delete(want, value(r.Name))
		}
	}
	for _, name := range sortedKeys(want) {
		if _, err := b.rules.BeginCreateOrUpdate(ctx, b.spec.ResourceGroup, b.spec.SecurityGroupName, name, *want[name], nil); err != nil {
			return err
		}
	}
	return nil
}

// securityRule is about the ports of the load balancer's own address, which packets keep
// with floating IP: it concerns no other load balancer of the group, and no machine's own
// address.
func securityRule(s provider.LoadBalancerSpec, endpoint, suffix string, access armnetwork.SecurityRuleAccess, sources []string, priority int32) *armnetwork.SecurityRule {
	p := &armnetwork.SecurityRulePropertiesFormat{
		Access: &access, Direction: new(armnetwork.SecurityRuleDirectionInbound), Priority: &priority, Protocol: new(armnetwork.SecurityRuleProtocolTCP),
		SourcePortRange: new("*"), DestinationAddressPrefix: &endpoint, Description: new("clients of load balancer " + cloud.Short(s.Name, 63)),
	}
	if len(sources) == 1 {
		p.SourceAddressPrefix = &sources[0]
	} else {
		p.SourceAddressPrefixes = pointers(sources)
	}
	for _, q := range cloud.Ports(s) {
		p.DestinationPortRanges = append(p.DestinationPortRanges, new(strconv.Itoa(int(q.Port))))
	}
	return &armnetwork.SecurityRule{Name: new(partName(s.Owner.ID, s.Name, suffix)), Properties: p}
}

// freePriority is the first of two that no other rule has: the ones that the load
// balancer has already, if both are its own or free.
func freePriority(all, own []*armnetwork.SecurityRule) int32 {
	mine := map[string]bool{}
	for _, r := range own {
		mine[value(r.Name)] = true
	}
	used := map[int32]bool{}
	for _, r := range all {
		if r.Properties != nil && !mine[value(r.Name)] && value(r.Properties.Direction) == armnetwork.SecurityRuleDirectionInbound {
			used[value(r.Properties.Priority)] = true
		}
	}
	for _, r := range own {
		if at := priorityOf(r); strings.HasSuffix(value(r.Name), suffixAllow) && at > 0 && !used[at] && !used[at+1] {
			return at
		}
	}
	for _, r := range own {
		used[priorityOf(r)] = true // a rule moves to where no rule is
	}
	at := int32(firstPriority)
	for used[at] || used[at+1] {
		at += 2
	}
	return at
}

func priorityOf(r *armnetwork.SecurityRule) int32 {
	if r.Properties == nil {
		return 0
	}
	return value(r.Properties.Priority)
}

func sameRule(a, b *armnetwork.SecurityRule) bool { return ruleText(a) == ruleText(b) }

// ruleText is what of a rule follows from the spec, for comparison.
func ruleText(r *armnetwork.SecurityRule) string {
	p := r.Properties
	if p == nil {
		return ""
	}
	return fmt.Sprint(value(p.Access), value(p.Direction), value(p.Priority), value(p.Protocol), sourcesOf(p), portRangesOf(p), value(p.DestinationAddressPrefix))
}

func sourcesOf(p *armnetwork.SecurityRulePropertiesFormat) []string {
	all := values(p.SourceAddressPrefixes)
	if one := value(p.SourceAddressPrefix); one != "" {
		all = append(all, one)
	}
	slices.Sort(all)
	return all
}

func destinationsOf(p *armnetwork.SecurityRulePropertiesFormat) []string {
	all := values(p.DestinationAddressPrefixes)
	if one := value(p.DestinationAddressPrefix); one != "" {
		all = append(all, one)
	}
	return all
}

func portRangesOf(p *armnetwork.SecurityRulePropertiesFormat) []string {
	all := values(p.DestinationPortRanges)
	if one := value(p.DestinationPortRange); one != "" {
		all = append(all, one)
	}
	slices.Sort(all)
	return all
}

func (b balancers) dropRule(ctx context.Context, name string) error {
	_, err := b.rules.BeginDelete(ctx, b.spec.ResourceGroup, b.spec.SecurityGroupName, name, nil)
	return unlessGone(err)
}

// dropRules removes the rules first: they have no tags, and could not be found without the
// last part of the load balancer, which is its address if it has one.
func (b balancers) dropRules(ctx context.Context, found *balancer) error {
	for _, r := range found.rules {
		if err := b.dropRule(ctx, value(r.Name)); err != nil {
			return err
		}
	}
	if len(found.rules) > 0 && found.address == nil {
		return provider.Unavailable.New("", provider.ReasonPlatformConflict, errors.New("security rules are being removed"), cloud.HintAgain)
	}
	return nil
}
