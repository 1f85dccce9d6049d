// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"slices"
	"strings"
)

// group is a security group.
type group struct {
	ID, Name, Description, VPC string
	Rules                      []rule
	Tags                       tags
}

// maxGroups is the default quota of security groups in a region.
const maxGroups = 2500

func (c *call) group(id string) (*group, error) {
	if g := c.st.groups.ByID[id]; g != nil {
		return g, nil
	}
	if err := checkID(id, "sg", "InvalidGroupId.Malformed"); err != nil {
		return nil, err
	}
	return nil, refuse("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
}

func describeGroups(c *call) (fields, error) {
	all, err := named(c, c.st.groups, "GroupId", func(ids []string) error {
		_, err := c.group(ids[0])
		return err
	})
	if err != nil {
		return nil, err
	}
	if names := c.params.List("GroupName"); len(names) > 0 {
		all = slices.DeleteFunc(all, func(g *group) bool { return !slices.Contains(names, g.Name) })
	}
	return described(c, "securityGroupInfo", ec2Pages(1000), all, c.groupValues, c.showGroup)
}

func (c *call) groupValues(g *group) values {
	v := values{
		"group-id": {g.ID}, "group-name": {g.Name}, "description": {g.Description}, "vpc-id": {g.VPC}, "owner-id": {c.account},
		"ip-permission.cidr": nil, "ip-permission.from-port": nil, "ip-permission.to-port": nil, "ip-permission.protocol": nil, "ip-permission.group-id": nil,
	}
	for _, r := range g.Rules {
		if r.Egress {
			continue
		}
		v["ip-permission.protocol"] = append(v["ip-permission.protocol"], r.Protocol)
		v["ip-permission.from-port"] = append(v["ip-permission.from-port"], fmt.Sprint(r.From))
		v["ip-permission.to-port"] = append(v["ip-permission.to-port"], fmt.Sprint(r.To))
		v["ip-permission.cidr"] = append(v["ip-permission.cidr"], r.CIDR)
		v["ip-permission.group-id"] = append(v["ip-permission.group-id"], r.Group)
	}
	return v.tagged(g.Tags)
}

func (c *call) showGroup(g *group) fields {
	return fields{
		"ownerId", c.account, "groupId", g.ID, "groupName", g.Name, "groupDescription", g.Description, "vpcId", g.VPC,
		"securityGroupArn", c.arn(ec2, "security-group/"+g.ID),
		"ipPermissions", c.permissions(g, false), "ipPermissionsEgress", c.permissions(g, true), "tagSet", tagSet(g.Tags),
	}
}

// permissions has the rules of one direction, those with the same ports together.
func (c *call) permissions(g *group, egress bool) items {
	out := items{}
	done := map[rule]bool{}
	for _, r := range g.Rules {
		ports := rule{Protocol: r.Protocol, From: r.From, To: r.To}
		if r.Egress != egress || done[ports] {
			continue
		}
		done[ports] = true
		out = append(out, c.permission(g, ports, egress))
	}
	return out
}

func (c *call) permission(g *group, ports rule, egress bool) fields {
	v4, v6, groups := items{}, items{}, items{}
	for _, r := range g.Rules {
		if r.Egress != egress || r.Protocol != ports.Protocol || r.From != ports.From || r.To != ports.To {
			continue
		}
		switch {
		case r.Group != "":
			groups = append(groups, fields{"userId", c.account, "groupId", r.Group, "description", optional(r.Description)})
		case strings.Contains(r.CIDR, ":"):
			v6 = append(v6, fields{"cidrIpv6", r.CIDR, "description", optional(r.Description)})
		default:
			v4 = append(v4, fields{"cidrIp", r.CIDR, "description", optional(r.Description)})
		}
	}
	out := fields{"ipProtocol", ports.Protocol, "groups", groups, "ipRanges", v4, "ipv6Ranges", v6, "prefixListIds", items{}}
	if ports.Protocol != "-1" {
		out = append(out, "fromPort", ports.From, "toPort", ports.To)
	}
	return out
}

func createGroup(c *call) (fields, error) {
	name, vpcID := c.params.String("GroupName"), c.params.String("VpcId")
	switch {
	case vpcID == "":
		return nil, refuse("VPCIdNotSpecified", "No default VPC for this user")
	case c.st.vpcs.ByID[vpcID] == nil:
		return nil, refuse("InvalidVpcID.NotFound", "The vpc ID '%s' does not exist", vpcID)
	case len(name) > 255 || strings.HasPrefix(name, "sg-"):
		return nil, refuse("InvalidParameterValue", "Invalid value '%s' for groupName. Group names may not be longer than 255 characters, or begin with sg-", name)
	case len(c.st.groups.Where(func(g *group) bool { return g.Name == name && g.VPC == vpcID })) > 0:
		return nil, refuse("InvalidGroup.Duplicate", "The security group '%s' already exists for VPC '%s'", name, vpcID)
	case len(c.st.groups.ByID) >= maxGroups:
		return nil, refuse("SecurityGroupLimitExceeded", "The maximum number of security groups has been reached.")
	}
	tagged, err := c.specifiedTags("security-group")
	if err != nil {
		return nil, err
	}
	if err := c.dryRun(); err != nil {
		return nil, err
	}
	g := &group{ID: newID("sg"), Name: name, Description: c.params.String("GroupDescription"), VPC: vpcID, Tags: tagged["security-group"]}
	g.Rules = []rule{{ID: newID("sgr"), Egress: true, Protocol: "-1", From: -1, To: -1, CIDR: "0.0.0.0/0"}}
	c.st.groups.Put(g.ID, g)
	c.auditGroup(g)
	return fields{"return", true, "groupId", g.ID, "securityGroupArn", c.arn(ec2, "security-group/"+g.ID), "tagSet", tagSet(g.Tags)}, nil
}

func deleteGroup(c *call) (fields, error) {
	g, err := c.group(c.params.String("GroupId"))
	if err != nil {
		return nil, err
	}
	if g.Name == "default" {
		return nil, refuse("CannotDelete", "the specified group: \"%s\" name: \"default\" cannot be deleted by a user", g.ID)
	}
	if c.groupInUse(g.ID) {
		return nil, refuse("DependencyViolation", "resource %s has a dependent object", g.ID)
	}
	if err := c.dryRun(); err != nil {
		return nil, err
	}
	c.st.groups.Remove(g.ID)
	c.auditGone(g.ID)
	return fields{"return", true, "groupId", g.ID}, nil
}

// groupInUse reports whether an interface has the group, or a rule of another group names
// it.
func (c *call) groupInUse(id string) bool {
	used := c.st.interfaces.Where(func(i *networkInterface) bool { return slices.Contains(i.Groups, id) })
	named := c.st.groups.Where(func(g *group) bool {
		return g.ID != id && slices.ContainsFunc(g.Rules, func(r rule) bool { return r.Group == id })
	})
	return len(used)+len(named) > 0
}
