// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

type nsg = resource[nsgProperties]

type nsgProperties struct {
	status
	ResourceGUID         string               `json:"resourceGuid,omitempty"`
	SecurityRules        []part[securityRule] `json:"securityRules"`
	DefaultSecurityRules []part[securityRule] `json:"defaultSecurityRules"`
	NetworkInterfaces    []ref                `json:"networkInterfaces,omitempty"`
	Subnets              []ref                `json:"subnets,omitempty"`
	FlushConnection      bool                 `json:"flushConnection,omitempty"`
}

type securityRule struct {
	status
	Description                string   `json:"description,omitempty"`
	Protocol                   string   `json:"protocol,omitempty"`
	SourcePortRange            string   `json:"sourcePortRange,omitempty"`
	DestinationPortRange       string   `json:"destinationPortRange,omitempty"`
	SourceAddressPrefix        string   `json:"sourceAddressPrefix,omitempty"`
	DestinationAddressPrefix   string   `json:"destinationAddressPrefix,omitempty"`
	Access                     string   `json:"access,omitempty"`
	Priority                   int      `json:"priority,omitempty"`
	Direction                  string   `json:"direction,omitempty"`
	SourcePortRanges           []string `json:"sourcePortRanges"`
	DestinationPortRanges      []string `json:"destinationPortRanges"`
	SourceAddressPrefixes      []string `json:"sourceAddressPrefixes"`
	DestinationAddressPrefixes []string `json:"destinationAddressPrefixes"`
}

// The service tags that rules can name here.
const (
	anywhere    = "*"
	internetTag = "Internet"
	networkTag  = "VirtualNetwork"
	probeTag    = "AzureLoadBalancer"
)

func (r *securityRule) sources() []string {
	return join(r.SourceAddressPrefix, r.SourceAddressPrefixes)
}

func (r *securityRule) destinations() []string {
	return join(r.DestinationAddressPrefix, r.DestinationAddressPrefixes)
}

func (r *securityRule) ports() []string {
	return join(r.DestinationPortRange, r.DestinationPortRanges)
}

func join(one string, more []string) []string {
	if one == "" {
		return more
	}
	return append([]string{one}, more...)
}

func checkGroup(c *call, r, _ *record) error {
	p := &r.object.(*nsg).Properties
	p.ResourceGUID = derivedUUID(r.top().ID)
	p.NetworkInterfaces, p.Subnets, p.FlushConnection = nil, nil, false
	if err := completeParts(r, "securityRules", p.SecurityRules); err != nil {
		return err
	}
	seen := map[string]string{}
	for i := range p.SecurityRules {
		rule := &p.SecurityRules[i]
		if err := checkRule(rule); err != nil {
			return err
		}
		at := rule.Properties.Direction + itoa(rule.Properties.Priority)
		if other := seen[at]; other != "" {
			return bad("SecurityRuleConflict", "Security rule %s conflicts with rule %s. Rules cannot have the same Priority and Direction.", rule.Name, other)
		}
		seen[at] = rule.Name
	}
	if p.SecurityRules == nil {
		p.SecurityRules = []part[securityRule]{}
	}
	p.DefaultSecurityRules = defaultRules()
	return completeParts(r, "defaultSecurityRules", p.DefaultSecurityRules)
}

func checkRule(rule *part[securityRule]) error {
	p := &rule.Properties
	wrong := func(field, value string) error {
		return bad("SecurityRuleParameterContainsUnsupportedValue", "Security rule parameter %s for rule with Id %s cannot be specified. Value provided: %s", field, rule.ID, value)
	}
	switch {
	case p.Priority < 100 || p.Priority > 4096:
		return bad("SecurityRuleInvalidPriority", "Security rule %s has invalid Priority. Value provided: %d Allowed range 100-4096.", rule.Name, p.Priority)
	case !slices.Contains([]string{"Tcp", "Udp", "Icmp", "Esp", "Ah", "*"}, p.Protocol):
		return wrong("Protocol", p.Protocol)
	case p.Access != "Allow" && p.Access != "Deny":
		return wrong("Access", p.Access)
	case p.Direction != "Inbound" && p.Direction != "Outbound":
		return wrong("Direction", p.Direction)
	case len(p.sources()) == 0 || len(p.destinations()) == 0 || len(p.ports()) == 0 || len(join(p.SourcePortRange, p.SourcePortRanges)) == 0:
		return bad("SecurityRuleIncomplete", "Security rule %s needs source and destination prefixes and port ranges.", rule.Name)
	}
	for _, prefix := range append(p.sources(), p.destinations()...) {
		if !slices.Contains([]string{anywhere, internetTag, networkTag, probeTag}, prefix) && !isPrefix(prefix) {
			return bad("SecurityRuleInvalidAddressPrefix", "Security rule %s has invalid Address prefix. Value provided: %s", rule.Name, prefix)
		}
	}
	if one, other := overlap(p.SourceAddressPrefixes, p.DestinationAddressPrefixes); one != "" {
		return bad("OverlappingSubnetsNotPermittedInSecurityRule", "Security rule %s has overlapping subnets %s and %s, which is not permitted.", rule.Name, one, other)
	}
	for _, text := range append(p.ports(), join(p.SourcePortRange, p.SourcePortRanges)...) {
		if _, _, ok := portRange(text); !ok {
			return bad("SecurityRuleInvalidPortRange", "Security rule has invalid Port range. Value provided: %s. Value should be an integer OR integer range with '-' delimiter. Valid range 0-65535.", text)
		}
	}
	for _, list := range []*[]string{&p.SourcePortRanges, &p.DestinationPortRanges, &p.SourceAddressPrefixes, &p.DestinationAddressPrefixes} {
		*list = append([]string{}, *list...)
	}
	return nil
}

// overlap returns two prefixes of one list that have addresses in common.
func overlap(lists ...[]string) (one, other string) {
	for _, list := range lists {
		for i, a := range list {
			for _, b := range list[i+1:] {
				if p, q := parsed(a), parsed(b); len(p) > 0 && len(q) > 0 && p[0].Overlaps(q[0]) {
					return a, b
				}
			}
		}
	}
	return "", ""
}

func isPrefix(text string) bool {
	_, err := netip.ParsePrefix(text)
	_, other := netip.ParseAddr(text)
	return err == nil || other == nil
}

func portRange(text string) (from, to int, ok bool) {
	if text == anywhere {
		return 0, 65535, true
	}
	low, high, ranged := strings.Cut(text, "-")
	if !ranged {
		high = low
	}
	from, err := strconv.Atoi(low)
	to, further := strconv.Atoi(high)
	return from, to, err == nil && further == nil && from >= 0 && to <= 65535 && from <= to
}

// defaultRules are those that every group has.
func defaultRules() (out []part[securityRule]) {
	add := func(name, source, destination, access, direction string, priority int) {
		out = append(out, part[securityRule]{Name: name, Properties: securityRule{
			Protocol: anywhere, SourcePortRange: anywhere, DestinationPortRange: anywhere, SourceAddressPrefix: source, DestinationAddressPrefix: destination,
			Access: access, Priority: priority, Direction: direction,
			SourcePortRanges: []string{}, DestinationPortRanges: []string{}, SourceAddressPrefixes: []string{}, DestinationAddressPrefixes: []string{},
		}})
	}
	add("AllowVnetInBound", networkTag, networkTag, "Allow", "Inbound", 65000)
	add("AllowAzureLoadBalancerInBound", probeTag, anywhere, "Allow", "Inbound", 65001)
	add("DenyAllInBound", anywhere, anywhere, "Deny", "Inbound", 65500)
	add("AllowVnetOutBound", networkTag, networkTag, "Allow", "Outbound", 65000)
	add("AllowInternetOutBound", anywhere, internetTag, "Allow", "Outbound", 65001)
	add("DenyAllOutBound", anywhere, anywhere, "Deny", "Outbound", 65500)
	return out
}

func applyGroup(c *call, _, _ *record) error { return c.applyAll() }

func groupRemovable(c *call, r *record) error {
	users := append(c.st.interfacesWith(r.top().ID), c.st.subnetsWith(r.top().ID)...)
	if len(users) > 0 {
		return bad("InUseNetworkSecurityGroupCannotBeDeleted", "Network security group %s cannot be deleted because it is in use by the following resources: %s. In order to delete the Network security group, remove the association with the resource(s). To learn how to do this, see aka.ms/deletensg.", r.top().ID, users[0].ID)
	}
	return nil
}

func (s *state) interfacesWith(group string) []ref {
	return refsTo(s, func(n *nic) bool { return n.Properties.NetworkSecurityGroup.key() == keyOf(group) })
}

// subnetsWith are the subnets that refer to a resource.
func (s *state) subnetsWith(id string) (out []ref) {
	each(s, func(_ *record, n *vnet) {
		for _, sub := range n.Properties.Subnets {
			p := sub.Properties
			if slices.Contains([]string{p.NetworkSecurityGroup.key(), p.RouteTable.key(), p.NatGateway.key()}, keyOf(id)) {
				out = append(out, ref{sub.ID})
			}
		}
	})
	return out
}

func showGroup(c *call, r *record) any {
	g := *r.object.(*nsg)
	g.Properties.NetworkInterfaces, g.Properties.Subnets = c.st.interfacesWith(g.ID), c.st.subnetsWith(g.ID)
	g.Properties.SecurityRules = withETag(g.Properties.SecurityRules, g.ETag, func(*part[securityRule]) {})
	return &g
}
