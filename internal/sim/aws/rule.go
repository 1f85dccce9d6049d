// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/aws/model"
)

// rule of a security group: from, or to, a prefix or another group.
type rule struct {
	ID          string
	Egress      bool
	Protocol    string // tcp, udp, icmp, icmpv6 or a number; -1: all
	From, To    int    // -1: all
	CIDR, Group string
	Description string
}

// maxRules is the default quota of rules in each direction.
const maxRules = 60

// same reports whether two rules allow the same.
func (r rule) same(other rule) bool {
	r.ID, r.Description = other.ID, other.Description
	return r == other
}

// rules reads the rules of a request. Those outside of IpPermissions are one rule.
func (c *call) rules(egress bool) (out []rule, err error) {
	all := c.params.Each("IpPermissions")
	if len(all) == 0 && c.params.Has("IpProtocol") {
		p := model.Params{"IpProtocol": c.params["IpProtocol"], "IpRanges.1.CidrIp": c.params["CidrIp"]}
		for _, name := range []string{"FromPort", "ToPort"} {
			if c.params.Has(name) {
				p[name] = c.params[name]
			}
		}
		all = []model.Params{p}
	}
	for _, p := range all {
		some, err := c.permissionRules(p, egress)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

func (c *call) permissionRules(p model.Params, egress bool) (out []rule, err error) {
	base := rule{Egress: egress, Protocol: protocolName(p.String("IpProtocol")), From: p.Int("FromPort", -1), To: p.Int("ToPort", -1)}
	if err := base.checkPorts(p); err != nil {
		return nil, err
	}
	add := func(r rule, description string) {
		r.ID, r.Description = newID("sgr"), description
		out = append(out, r)
	}
	for _, kind := range []struct{ list, field string }{{"IpRanges", "CidrIp"}, {"Ipv6Ranges", "CidrIpv6"}} {
		for _, one := range p.Each(kind.list) {
			r := base
			r.CIDR = one.String(kind.field)
			prefix, err := netip.ParsePrefix(r.CIDR)
			if err != nil || prefix.Masked() != prefix || prefix.Addr().Is6() != (kind.list == "Ipv6Ranges") {
				return nil, refuse("InvalidParameterValue", "CIDR block %s is malformed", r.CIDR)
			}
			add(r, one.String("Description"))
		}
	}
	for _, one := range p.Each("Groups") {
		r := base
		r.Group = one.String("GroupId")
		if _, err := c.group(r.Group); err != nil {
			return nil, err
		}
		add(r, one.String("Description"))
	}
	if len(out) == 0 {
		return nil, refuse("MissingParameter", "Missing source specification: include source security group or CIDR information")
	}
	return out, nil
}

func protocolName(s string) string {
	if name := map[string]string{"6": "tcp", "17": "udp", "1": "icmp", "58": "icmpv6", "all": "-1"}[s]; name != "" {
		return name
	}
	return s
}

// checkPorts refuses ports that the protocol does not have.
func (r *rule) checkPorts(p model.Params) error {
	switch r.Protocol {
	case "":
		return refuse("MissingParameter", "The request must contain the parameter ipProtocol")
	case "-1":
		r.From, r.To = -1, -1
		return nil
	case "tcp", "udp":
		if !p.Has("FromPort") || !p.Has("ToPort") {
			return refuse("InvalidParameterValue", "Invalid value 'Must specify both from and to ports with TCP/UDP.' for portRange.")
		}
		if r.From < 0 || r.To > 65535 || r.From > r.To {
			return refuse("InvalidParameterValue", "Invalid TCP/UDP port range (%d:%d)", r.From, r.To)
		}
	}
	return nil
}

func authorizeRules(c *call) (fields, error) {
	egress := strings.HasSuffix(c.operation, "Egress")
	g, err := c.group(c.params.String("GroupId"))
	if err != nil {
		return nil, err
	}
	wanted, err := c.rules(egress)
	if err != nil {
		return nil, err
	}
	for _, r := range wanted {
		if slices.ContainsFunc(g.Rules, r.same) {
			return nil, refuse("InvalidPermission.Duplicate", "the specified rule \"peer: %s%s, %s, from port: %d, to port: %d, ALLOW\" already exists", r.CIDR, r.Group, r.Protocol, r.From, r.To)
		}
	}
	if len(g.Rules)+len(wanted) > 2*maxRules {
		return nil, refuse("RulesPerSecurityGroupLimitExceeded", "The maximum number of rules per security group has been reached.")
	}
	if err := c.dryRun(); err != nil {
		return nil, err
	}
	g.Rules = append(g.Rules, wanted...)
	c.st.groups.Put(g.ID, g)
	if err := c.applyAll(); err != nil {
		return nil, err
	}
	return fields{"return", true, "securityGroupRuleSet", items(list(wanted, func(r rule) fields { return c.showRule(g, r) }))}, nil
}

func revokeRules(c *call) (fields, error) {
	egress := strings.HasSuffix(c.operation, "Egress")
	g, err := c.group(c.params.String("GroupId"))
	if err != nil {
		return nil, err
	}
	ids := c.params.List("SecurityGroupRuleId")
	revoked, err := c.rules(egress)
	if err != nil {
		return nil, err
	}
	left := slices.DeleteFunc(slices.Clone(g.Rules), func(r rule) bool {
		return slices.Contains(ids, r.ID) || slices.ContainsFunc(revoked, r.same)
	})
	if len(g.Rules)-len(left) < len(ids)+len(revoked) {
		return nil, refuse("InvalidPermission.NotFound", "The specified rule does not exist in this security group.")
	}
	if err := c.dryRun(); err != nil {
		return nil, err
	}
	g.Rules = left
	c.st.groups.Put(g.ID, g)
	return fields{"return", true, "unknownIpPermissionSet", items{}}, c.applyAll()
}

// groupRule is a rule with its group.
type groupRule struct {
	group *group
	rule  rule
}

func describeRules(c *call) (fields, error) {
	ids := c.params.List("SecurityGroupRuleId")
	all := []*groupRule{}
	for _, g := range c.st.groups.All() {
		for _, r := range g.Rules {
			if len(ids) == 0 || slices.Contains(ids, r.ID) {
				all = append(all, &groupRule{g, r})
			}
		}
	}
	if len(all) < len(ids) {
		return nil, refuse("InvalidSecurityGroupRuleId.NotFound", "The security group rule ID '%s' does not exist", ids[0])
	}
	return described(c, "securityGroupRuleSet", ec2Pages(1000), all, func(r *groupRule) values {
		if r.group == nil {
			return values{"group-id": nil, "security-group-rule-id": nil}
		}
		return values{"group-id": {r.group.ID}, "security-group-rule-id": {r.rule.ID}}
	}, func(r *groupRule) fields { return c.showRule(r.group, r.rule) })
}

func (c *call) showRule(g *group, r rule) fields {
	out := fields{
		"securityGroupRuleId", r.ID, "groupId", g.ID, "groupOwnerId", c.account, "isEgress", r.Egress, "ipProtocol", r.Protocol,
		"fromPort", r.From, "toPort", r.To, "description", optional(r.Description),
	}
	switch {
	case r.Group != "":
		out = append(out, "referencedGroupInfo", fields{"groupId", r.Group, "userId", c.account})
	case strings.Contains(r.CIDR, ":"):
		out = append(out, "cidrIpv6", r.CIDR)
	default:
		out = append(out, "cidrIpv4", r.CIDR)
	}
	return out
}
