// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

type listener struct {
	ID, ARN, Balancer, Protocol string
	Port                        int
	TargetGroup                 string // ARN
	Tags                        tags
}

func (c *call) listener(arn string) (*listener, error) {
	if l := c.st.listeners.ByID[idOf(arn)]; l != nil && l.ARN == arn {
		return l, nil
	}
	return nil, refuse("ListenerNotFound", "One or more listeners not found")
}

// forward reads the target group that a listener forwards to.
func (c *call) forward() (*targetGroup, error) {
	actions := c.params.Each("DefaultActions.member")
	if len(actions) != 1 || actions[0].String("Type") != "forward" {
		return nil, refuse("InvalidLoadBalancerAction", "A listener of a network load balancer has one action of type forward")
	}
	arn := actions[0].String("TargetGroupArn")
	for _, g := range actions[0].Each("ForwardConfig.TargetGroups.member") {
		arn = g.String("TargetGroupArn")
	}
	return c.targetGroup(arn)
}

func createListener(c *call) (fields, error) {
	b, err := c.balancer(c.params.String("LoadBalancerArn"))
	if err != nil {
		return nil, err
	}
	g, err := c.forward()
	if err != nil {
		return nil, err
	}
	l := &listener{ID: randomHex(16), Balancer: b.ARN, Protocol: c.params.String("Protocol"), Port: c.params.Int("Port", 0), TargetGroup: g.ARN}
	if err := c.checkListener(b, g, l); err != nil {
		return nil, err
	}
	if l.Tags, err = c.elbTags(); err != nil {
		return nil, err
	}
	all := c.st.listeners.Where(func(l *listener) bool { return l.Balancer == b.ARN })
	for _, other := range all {
		if other.Port == l.Port && other.TargetGroup == l.TargetGroup && other.Protocol == l.Protocol {
			return showListeners([]*listener{other}, nil), nil
		}
		if other.Port == l.Port {
			return nil, refuse("DuplicateListener", "A listener already exists on this port for this load balancer '%s'", b.ARN)
		}
	}
	if len(all) >= maxListeners {
		return nil, c.overQuota(c.request)
	}
	l.ARN = strings.Replace(b.ARN, ":loadbalancer/", ":listener/", 1) + "/" + l.ID
	c.st.listeners.Put(l.ID, l)
	c.auditBalancers()
	return showListeners([]*listener{l}, nil), c.apply(b)
}

func (c *call) checkListener(b *balancer, g *targetGroup, l *listener) error {
	switch {
	case l.Port == 0 || l.Protocol == "":
		return refuse("ValidationError", "A port and a protocol must be specified")
	case l.Protocol != "TCP":
		return refuse("UnsupportedProtocol", "The simulated platform has listeners of protocol TCP only")
	case g.VPC != b.VPC:
		return refuse("InvalidConfigurationRequest", "The target group '%s' is not in the VPC of the load balancer", g.ARN)
	}
	for _, arn := range c.balancersOf(g) {
		if arn != b.ARN {
			return refuse("TargetGroupAssociationLimit", "The following target groups cannot be associated with more than one load balancer: %s", g.ARN)
		}
	}
	return nil
}

func modifyListener(c *call) (fields, error) {
	l, err := c.listener(c.params.String("ListenerArn"))
	if err != nil {
		return nil, err
	}
	b, err := c.balancer(l.Balancer)
	if err != nil {
		return nil, err
	}
	changed := *l
	changed.Port = c.params.Int("Port", l.Port)
	if p := c.params.String("Protocol"); p != "" {
		changed.Protocol = p
	}
	g, err := c.targetGroup(l.TargetGroup)
	if c.params.Has("DefaultActions") {
		g, err = c.forward()
	}
	if err != nil {
		return nil, err
	}
	changed.TargetGroup = g.ARN
	if err := c.checkListener(b, g, &changed); err != nil {
		return nil, err
	}
	if len(c.st.listeners.Where(func(o *listener) bool { return o.Balancer == b.ARN && o.ID != l.ID && o.Port == changed.Port })) > 0 {
		return nil, refuse("DuplicateListener", "A listener already exists on this port for this load balancer '%s'", b.ARN)
	}
	*l = changed
	c.st.listeners.Put(l.ID, l)
	return showListeners([]*listener{l}, nil), c.apply(b)
}

func deleteListener(c *call) (fields, error) {
	l, err := c.listener(c.params.String("ListenerArn"))
	if err != nil {
		return nil, err
	}
	c.st.listeners.Remove(l.ID)
	c.auditGone(l.ARN)
	b, err := c.balancer(l.Balancer)
	if err != nil {
		return nil, err
	}
	return fields{}, c.apply(b)
}

func describeListeners(c *call) (fields, error) {
	lb, arns := c.params.String("LoadBalancerArn"), c.params.List("ListenerArns.member")
	switch {
	case lb == "" && len(arns) == 0:
		return nil, refuse("ValidationError", "You must specify either listener ARNs or a load balancer ARN")
	case lb != "":
		if _, err := c.balancer(lb); err != nil {
			return nil, err
		}
	}
	all := c.st.listeners.Where(func(l *listener) bool { return l.Balancer == lb || slices.Contains(arns, l.ARN) })
	if len(all) < len(arns) {
		return nil, refuse("ListenerNotFound", "One or more listeners not found")
	}
	part, next, err := page(c, elbPages(), all)
	if err != nil {
		return nil, err
	}
	return showListeners(part, next), nil
}

func showListeners(all []*listener, next any) fields {
	return fields{"Listeners", members(list(all, func(l *listener) fields {
		return fields{
			"ListenerArn", l.ARN, "LoadBalancerArn", l.Balancer, "Port", l.Port, "Protocol", l.Protocol,
			"DefaultActions", members{fields{"Type", "forward", "TargetGroupArn", l.TargetGroup, "ForwardConfig", fields{
				"TargetGroups", members{fields{"TargetGroupArn", l.TargetGroup}},
			}}},
		}
	})), "NextMarker", next}
}

// apply brings the datacenter in line with a load balancer and its target groups. One
// whose subnets have no route to an internet gateway answers inside only, as on the
// platform.
func (c *call) apply(b *balancer) error {
	if !c.Hosts {
		return nil
	}
	s := datacenter.LoadBalancerSpec{
		ID: b.ID, Name: b.DNS, Internal: b.Scheme == "internal", FailOpen: true,
		ZoneBound: b.Attributes["load_balancing.cross_zone.enabled"] != "true",
	}
	for _, id := range b.Subnets {
		n := c.st.subnets.ByID[id]
		s.Zones = append(s.Zones, n.Zone)
		s.Internal = s.Internal || !strings.HasPrefix(c.st.wayOut(n), "igw-")
	}
	for _, l := range c.st.listeners.Where(func(l *listener) bool { return l.Balancer == b.ARN }) {
		g, err := c.targetGroup(l.TargetGroup)
		if err != nil {
			return err
		}
		if err := c.applyPool(g); err != nil {
			return err
		}
		s.Listeners = append(s.Listeners, datacenter.Listener{Port: uint16(l.Port), Pool: g.ID, Allowed: c.allowed(b, l.Port)})
	}
	_, err := c.Options.Datacenter.PutLoadBalancer(s)
	return err
}

// allowed are the prefixes that the groups of a load balancer let in to a port; nil: all,
// because it has no groups.
func (c *call) allowed(b *balancer, port int) []netip.Prefix {
	if len(b.Groups) == 0 {
		return nil
	}
	out := []netip.Prefix{}
	for _, id := range b.Groups {
		g := c.st.groups.ByID[id]
		if g == nil {
			continue
		}
		for _, r := range g.Rules {
			if r.Egress || !r.covers(port) {
				continue
			}
			if prefix, err := netip.ParsePrefix(r.CIDR); err == nil {
				out = append(out, prefix)
			}
			for _, n := range c.st.interfaces.Where(func(n *networkInterface) bool { return slices.Contains(n.Groups, r.Group) }) {
				out = append(out, netip.PrefixFrom(n.Address, n.Address.BitLen()))
			}
		}
	}
	return out
}

// applyAll brings all load balancers in line after a change of security groups.
func (c *call) applyAll() error {
	for _, b := range c.st.balancers.All() {
		if err := c.apply(b); err != nil {
			return err
		}
	}
	return nil
}

// resumeBalancers forgets the interfaces of load balancers that were deleted before a
// restart.
func (a *AWS) resumeBalancers() {
	for _, n := range a.st.interfaces.Where(func(n *networkInterface) bool { return n.Balancer != "" }) {
		if a.st.balancers.ByID[n.Balancer] == nil {
			a.st.interfaces.Remove(n.ID)
		}
	}
}
