// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// The default quotas of a region.
const (
	maxBalancers    = 50
	maxTargetGroups = 3000
	maxListeners    = 50
	maxTargets      = 500 // for each zone
)

// balancer is a network load balancer.
type balancer struct {
	ID, ARN, Name, DNS, Scheme, VPC string
	Subnets, Groups                 []string
	Attributes                      map[string]string
	Created                         time.Time
	Tags                            tags
}

func elbOperations() map[string]operation {
	out := about(elb, fault.LoadBalancer, map[string]func(*call) (fields, error){
		"CreateLoadBalancer": createBalancer, "DescribeLoadBalancers": describeBalancers, "DeleteLoadBalancer": deleteBalancer,
		"DescribeLoadBalancerAttributes": describeBalancerAttributes, "ModifyLoadBalancerAttributes": modifyBalancerAttributes,
		"SetSecurityGroups": setGroups, "RegisterTargets": registerTargets, "DeregisterTargets": deregisterTargets,
		"DescribeTargetHealth": describeTargetHealth, "DescribeListeners": describeListeners, "ModifyListener": modifyListener,
		"AddTags": addBalancerTags, "RemoveTags": removeBalancerTags, "DescribeTags": describeBalancerTags,
	})
	// The parts of a load balancer are created without it.
	maps.Copy(out, about(elb, fault.Network, map[string]func(*call) (fields, error){
		"CreateTargetGroup": createTargetGroup, "DescribeTargetGroups": describeTargetGroups, "ModifyTargetGroup": modifyTargetGroup,
		"DeleteTargetGroup": deleteTargetGroup, "DescribeTargetGroupAttributes": describeTargetGroupAttributes,
		"ModifyTargetGroupAttributes": modifyTargetGroupAttributes, "CreateListener": createListener, "DeleteListener": deleteListener,
	}))
	return out
}

// idOf is the end of an ARN.
func idOf(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }

func (c *call) balancer(arn string) (*balancer, error) {
	if b := c.st.balancers.ByID[idOf(arn)]; b != nil && b.ARN == arn {
		return b, nil
	}
	return nil, refuse("LoadBalancerNotFound", "One or more load balancers not found")
}

// checkName refuses names that load balancers and target groups cannot have.
func checkName(kind, name string) error {
	switch {
	case name == "":
		return refuse("ValidationError", "%s name cannot be empty", kind)
	case len(name) > 32:
		return refuse("ValidationError", "%s name '%s' cannot be longer than '32' characters", kind, name)
	case strings.Trim(name, "-") != name:
		return refuse("ValidationError", "%s name '%s' cannot begin or end with a hyphen", kind, name)
	case strings.HasPrefix(name, "internal-"):
		return refuse("ValidationError", "%s name '%s' cannot begin with 'internal-'", kind, name)
	case strings.ContainsFunc(name, func(r rune) bool { return r > 127 || !isWord(byte(r)) }):
		return refuse("ValidationError", "%s name '%s' can only contain characters that are alphanumeric characters and hyphens(-)", kind, name)
	}
	return nil
}

func isWord(b byte) bool {
	return b == '-' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

func createBalancer(c *call) (fields, error) {
	name := c.params.String("Name")
	if err := checkName("The load balancer", name); err != nil {
		return nil, err
	}
	if c.params.String("Type") != "network" {
		return nil, refuse("UnsupportedOperation", "The simulated platform has network load balancers only")
	}
	b := &balancer{ID: randomHex(16), Name: name, Scheme: c.params.String("Scheme"), Created: c.now, Attributes: map[string]string{}}
	b.Scheme = cmp.Or(b.Scheme, "internet-facing")
	for _, step := range []func(*balancer) error{c.balancerSubnets, c.balancerGroups, c.balancerTagged} {
		if err := step(b); err != nil {
			return nil, err
		}
	}
	for _, other := range c.st.balancers.All() {
		if other.Name != name {
			continue
		}
		if !other.same(b) {
			return nil, refuse("DuplicateLoadBalancerName", "A load balancer with the same name '%s' exists, but with different settings", name)
		}
		return c.showBalancers([]*balancer{other}, nil), nil
	}
	if len(c.st.balancers.ByID) >= maxBalancers {
		return nil, c.overQuota(c.request)
	}
	b.ARN = c.arn(elb, "loadbalancer/net/"+name+"/"+b.ID)
	b.DNS = name + "-" + b.ID + ".elb." + c.seed.Region + ".amazonaws.com"
	c.st.balancers.Put(b.ID, b)
	c.attachBalancer(b)
	c.auditBalancer(b)
	return c.showBalancers([]*balancer{b}, nil), c.apply(b)
}

// same reports whether a create call asks for what exists.
func (b *balancer) same(other *balancer) bool {
	return b.Scheme == other.Scheme && slices.Equal(b.Subnets, other.Subnets) && slices.Equal(b.Groups, other.Groups) && maps.Equal(b.Tags, other.Tags)
}

// balancerSubnets reads the subnets, one for each zone.
func (c *call) balancerSubnets(b *balancer) error {
	b.Subnets = c.params.List("Subnets.member")
	for _, m := range c.params.Each("SubnetMappings.member") {
		b.Subnets = append(b.Subnets, m.String("SubnetId"))
	}
	if len(b.Subnets) == 0 {
		return refuse("ValidationError", "Either 'subnets' or 'subnetMappings' must be specified")
	}
	zones := map[string]bool{}
	for _, id := range b.Subnets {
		s := c.st.subnets.ByID[id]
		if s == nil {
			return refuse("SubnetNotFound", "The subnet ID '%s' does not exist", id)
		}
		if zones[s.Zone] {
			return refuse("InvalidConfigurationRequest", "A load balancer cannot be attached to multiple subnets in the same Availability Zone")
		}
		if b.VPC != "" && b.VPC != s.VPC {
			return refuse("InvalidConfigurationRequest", "All subnets must belong to the same VPC: '%s'", b.VPC)
		}
		if c.st.free(s) < 8 {
			return refuse("InvalidSubnet", "Not enough IP space available in %s. ELB requires at least 8 free IP addresses in each subnet.", id)
		}
		zones[s.Zone], b.VPC = true, s.VPC
	}
	if b.Scheme == "internet-facing" && len(c.st.gateways.Where(func(g *gateway) bool { return !g.NAT && g.VPC == b.VPC })) == 0 {
		return refuse("InvalidSubnet", "VPC %s has no internet gateway", b.VPC)
	}
	slices.Sort(b.Subnets)
	return nil
}

func (c *call) balancerGroups(b *balancer) error {
	b.Groups = c.params.List("SecurityGroups.member")
	slices.Sort(b.Groups)
	for _, id := range b.Groups {
		g := c.st.groups.ByID[id]
		if g == nil || g.VPC != b.VPC {
			return refuse("InvalidSecurityGroup", "One or more security groups are invalid: '%s'", id)
		}
	}
	return nil
}

func (c *call) balancerTagged(b *balancer) (err error) {
	b.Tags, err = c.elbTags()
	return err
}

// attachBalancer gives a load balancer an interface in each of its subnets.
func (c *call) attachBalancer(b *balancer) {
	for _, id := range b.Subnets {
		n := c.newInterface(c.st.subnets.ByID[id], b.Groups)
		n.Balancer, n.Description = b.ID, "ELB net/"+b.Name+"/"+b.ID
		c.st.interfaces.Put(n.ID, n)
	}
}

func deleteBalancer(c *call) (fields, error) {
	b, err := c.balancer(c.params.String("LoadBalancerArn"))
	if err != nil {
		return fields{}, nil //nolint:nilerr // it is deleted
	}
	if b.Attributes["deletion_protection.enabled"] == "true" {
		return nil, refuse("OperationNotPermitted", "Load balancer '%s' cannot be deleted because deletion protection is enabled", b.ARN)
	}
	for _, l := range c.st.listeners.Where(func(l *listener) bool { return l.Balancer == b.ARN }) {
		c.st.listeners.Remove(l.ID)
		c.auditGone(l.ARN)
	}
	c.st.balancers.Remove(b.ID)
	c.auditGone(b.ARN)
	c.releaseBalancer(b)
	return fields{}, c.Options.Datacenter.RemoveLoadBalancer(b.ID)
}

// releaseDelay is how long the interfaces of a load balancer exist without it.
func (a *AWS) releaseDelay() time.Duration { return max(200*time.Millisecond, 5*a.Options.Create) }

func (a *AWS) releaseBalancer(b *balancer) {
	a.Later(a.releaseDelay(), func() {
		for _, n := range a.st.interfaces.Where(func(n *networkInterface) bool { return n.Balancer == b.ID }) {
			a.st.interfaces.Remove(n.ID)
		}
	})
}

func describeBalancers(c *call) (fields, error) {
	arns, names := c.params.List("LoadBalancerArns.member"), c.params.List("Names.member")
	all := c.st.balancers.Where(func(b *balancer) bool {
		return len(arns)+len(names) == 0 || slices.Contains(arns, b.ARN) || slices.Contains(names, b.Name)
	})
	switch {
	case len(names) > 0 && len(all) < len(names):
		return nil, refuse("LoadBalancerNotFound", "Load balancers '[%s]' not found", strings.Join(names, ", "))
	case len(arns) > 0 && len(all) < len(arns):
		return nil, refuse("LoadBalancerNotFound", "One or more load balancers not found")
	}
	part, next, err := page(c, elbPages(), all)
	if err != nil {
		return nil, err
	}
	return c.showBalancers(part, next), nil
}

func elbPages() pages {
	return pages{size: "PageSize", token: "Marker", least: 1, most: 400, otherwise: 400}
}

func (c *call) showBalancers(all []*balancer, next any) fields {
	return fields{"LoadBalancers", members(list(all, c.showBalancer)), "NextMarker", next}
}

func (c *call) showBalancer(b *balancer) fields {
	state, zones := "provisioning", members{}
	if live, known := c.Options.Datacenter.LoadBalancer(b.ID); known && live.Active && c.operation != "CreateLoadBalancer" {
		state = "active"
	}
	for _, id := range b.Subnets {
		zones = append(zones, fields{"ZoneName", c.st.subnets.ByID[id].Zone, "SubnetId", id, "LoadBalancerAddresses", members{}})
	}
	groups := members{}
	for _, id := range b.Groups {
		groups = append(groups, id)
	}
	return fields{
		"LoadBalancerArn", b.ARN, "LoadBalancerName", b.Name, "DNSName", b.DNS, "CanonicalHostedZoneId", "Z3F0SRJ5LGBH90", "CreatedTime", b.Created,
		"Scheme", b.Scheme, "VpcId", b.VPC, "State", fields{"Code", state}, "Type", "network", "AvailabilityZones", zones,
		"SecurityGroups", groups, "IpAddressType", "ipv4",
	}
}
