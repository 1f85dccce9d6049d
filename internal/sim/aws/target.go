// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// readTargets reads the targets of a request, with the port of the group where they have
// none.
func (c *call) readTargets(g *targetGroup) (out []registered) {
	for _, p := range c.params.Each("Targets.member") {
		out = append(out, registered{p.String("Id"), p.Int("Port", g.Port)})
	}
	return out
}

func registerTargets(c *call) (fields, error) {
	g, err := c.targetGroup(c.params.String("TargetGroupArn"))
	if err != nil {
		return nil, err
	}
	wanted := c.readTargets(g)
	for _, t := range wanted {
		if err := c.checkTarget(g, t.ID); err != nil {
			return nil, err
		}
	}
	for _, t := range wanted {
		if !slices.Contains(g.Targets, t) {
			g.Targets = append(g.Targets, t)
		}
	}
	if len(g.Targets) > maxTargets {
		return nil, refuse("TooManyTargets", "The maximum number of targets has been reached")
	}
	c.st.targetGroups.Put(g.ID, g)
	return fields{}, c.applyPool(g)
}

func (c *call) checkTarget(g *targetGroup, id string) error {
	if g.TargetType == "ip" {
		address, err := netip.ParseAddr(id)
		if err != nil {
			return refuse("ValidationError", "The IP address '%s' is not a valid IPv4 address", id)
		}
		if !c.st.vpcs.ByID[g.VPC].CIDR.Contains(address) {
			return refuse("InvalidTarget", "The IP address '%s' is not within the VPC", id)
		}
		return nil
	}
	if checkID(id, "i", "") != nil {
		return refuse("ValidationError", "Instance ID '%s' is not valid", id)
	}
	i := c.st.instances.ByID[id]
	switch {
	case i == nil || i.State == terminated:
		return refuse("InvalidTarget", "The following targets are not in a running state and cannot be registered: '%s'", id)
	case i.State != running:
		return refuse("InvalidTarget", "The following targets are not in a running state and cannot be registered: '%s'", id)
	case i.VPC != g.VPC:
		return refuse("InvalidTarget", "The following targets are not in the target group VPC '%s': '%s'", g.VPC, id)
	}
	return nil
}

func deregisterTargets(c *call) (fields, error) {
	g, err := c.targetGroup(c.params.String("TargetGroupArn"))
	if err != nil {
		return nil, err
	}
	// Without a port, a target is deregistered from all of its ports.
	var ports []registered
	for _, p := range c.params.Each("Targets.member") {
		ports = append(ports, registered{p.String("Id"), p.Int("Port", 0)})
	}
	g.Targets = slices.DeleteFunc(g.Targets, func(t registered) bool {
		return slices.Contains(ports, t) || slices.Contains(ports, registered{ID: t.ID})
	})
	c.st.targetGroups.Put(g.ID, g)
	return fields{}, c.applyPool(g)
}

func describeTargetHealth(c *call) (fields, error) {
	g, err := c.targetGroup(c.params.String("TargetGroupArn"))
	if err != nil {
		return nil, err
	}
	wanted := c.readTargets(g)
	health := c.healths(g)
	out := members{}
	for _, t := range g.Targets {
		if len(wanted) == 0 || slices.Contains(wanted, t) {
			out = append(out, c.showHealth(g, t, health[t]))
		}
	}
	leaving := c.leaving(g)
	for _, t := range leaving {
		if len(wanted) == 0 || slices.Contains(wanted, t) {
			out = append(out, c.showLeaving(g, t))
		}
	}
	for _, t := range wanted {
		if !slices.Contains(g.Targets, t) && !slices.Contains(leaving, t) {
			out = append(out, showUnused(t, "Target.NotRegistered", "Target is not registered to the target group"))
		}
	}
	return fields{"TargetHealthDescriptions", out}, nil
}

// leaving are the targets that were deregistered and still have connections.
func (c *call) leaving(g *targetGroup) (out []registered) {
	for _, t := range c.Options.Datacenter.Draining(g.ID) {
		if r := registeredAs(t); !slices.Contains(g.Targets, r) {
			out = append(out, r)
		}
	}
	return out
}

func (c *call) showLeaving(g *targetGroup, t registered) fields {
	return fields{
		"Target", fields{"Id", t.ID, "Port", t.Port}, "HealthCheckPort", g.Check.port(t),
		"TargetHealth", fields{"State", "draining", "Reason", "Target.DeregistrationInProgress", "Description", "Target deregistration is in progress"},
	}
}

// registeredAs is a target of the datacenter as a target group has it.
func registeredAs(t datacenter.Target) registered {
	if t.Machine == "" {
		return registered{t.Address.String(), int(t.Port)}
	}
	return registered{t.Machine, int(t.Port)}
}

// healths are those of the targets, as the datacenter has found them.
func (c *call) healths(g *targetGroup) map[registered]datacenter.Health {
	out := map[registered]datacenter.Health{}
	all := c.Options.Datacenter.Health(g.ID)
	pool, _ := c.Options.Datacenter.Pool(g.ID)
	for i, t := range pool.Targets {
		if i < len(all) {
			out[registeredAs(t)] = all[i]
		}
	}
	return out
}

func showUnused(t registered, reason, text string) fields {
	return fields{
		"Target", fields{"Id", t.ID, "Port", t.Port}, "HealthCheckPort", strconv.Itoa(t.Port),
		"TargetHealth", fields{"State", "unused", "Reason", reason, "Description", text},
	}
}

func (c *call) showHealth(g *targetGroup, t registered, h datacenter.Health) fields {
	if i := c.st.instances.ByID[t.ID]; g.TargetType == "instance" && (i == nil || i.State != running) {
		state := terminated
		if i != nil {
			state = i.State
		}
		return showUnused(t, "Target.InvalidState", "Target is in the "+state+" state")
	}
	return fields{"Target", fields{"Id", t.ID, "Port", t.Port}, "HealthCheckPort", g.Check.port(t), "TargetHealth", c.targetHealth(g, t, h)}
}

func (c *call) targetHealth(g *targetGroup, t registered, h datacenter.Health) fields {
	switch {
	case len(c.balancersOf(g)) == 0:
		return fields{"State", "unused", "Reason", "Target.NotInUse", "Description", "Target group is not configured to receive traffic from the load balancer"}
	case !c.admitted(g, t):
		return fields{"State", "unhealthy", "Reason", "Target.Timeout", "Description", "Request timed out"}
	}
	switch h {
	case datacenter.HealthHealthy:
		return fields{"State", "healthy"}
	case datacenter.HealthUnhealthy:
		return fields{"State", "unhealthy", "Reason", "Target.FailedHealthChecks", "Description", "Health checks failed"}
	case datacenter.HealthInitial, datacenter.HealthUnused:
	}
	return fields{"State", "initial", "Reason", "Elb.RegistrationInProgress", "Description", "Target registration is in progress"}
}

// interfaceOf is the interface of a target.
func (c *call) interfaceOf(t registered) *networkInterface {
	for _, n := range c.st.interfaces.ByID {
		if n.Instance == t.ID || n.Address.String() == t.ID {
			return n
		}
	}
	return nil
}

// admitted reports whether the security groups of a target let the load balancers of its
// group in, to its port and to that of its health check.
func (c *call) admitted(g *targetGroup, t registered) bool {
	n := c.interfaceOf(t)
	if n == nil {
		return true // an address that no instance has
	}
	check, err := strconv.Atoi(g.Check.Port)
	if err != nil {
		check = t.Port
	}
	for _, arn := range c.balancersOf(g) {
		b := c.st.balancers.ByID[idOf(arn)]
		if b == nil || !c.lets(n, b, t.Port) || !c.lets(n, b, check) {
			return false
		}
	}
	return true
}

// lets reports whether an interface accepts what the interfaces of a load balancer send.
func (c *call) lets(n *networkInterface, b *balancer, port int) bool {
	from := c.st.interfaces.Where(func(n *networkInterface) bool { return n.Balancer == b.ID })
	for _, id := range n.Groups {
		g := c.st.groups.ByID[id]
		if g == nil {
			continue
		}
		for _, r := range g.Rules {
			if r.Egress || !r.covers(port) {
				continue
			}
			if slices.Contains(b.Groups, r.Group) || r.admits(from) {
				return true
			}
		}
	}
	return false
}

// covers reports whether a rule is about a TCP port.
func (r rule) covers(port int) bool {
	return r.Protocol == "-1" || r.Protocol == "tcp" && r.From <= port && port <= r.To
}

// admits reports whether the prefix of a rule contains all of the interfaces.
func (r rule) admits(from []*networkInterface) bool {
	prefix, err := netip.ParsePrefix(r.CIDR)
	if err != nil || len(from) == 0 || strings.Contains(r.CIDR, ":") {
		return false
	}
	return !slices.ContainsFunc(from, func(n *networkInterface) bool { return !prefix.Contains(n.Address) })
}

// applyPool brings the datacenter in line with a target group. Targets that their own
// groups do not let the load balancer in to are left out.
func (c *call) applyPool(g *targetGroup) error {
	if !c.Hosts {
		return nil
	}
	check, _ := strconv.Atoi(g.Check.Port)                                        // 0: the port of the target
	delay, _ := strconv.Atoi(g.attribute("deregistration_delay.timeout_seconds")) // checked when it was set
	pool := datacenter.Pool{
		ID: g.ID, Drain: time.Duration(delay) * time.Second, PreserveClient: g.attribute("preserve_client_ip.enabled") == "true",
		Check: datacenter.HealthCheck{Port: uint16(check), Interval: time.Duration(g.Check.Interval) * time.Second},
	}
	if c.Options.Create > 0 { // without delays a target is checked with each change only
		pool.Check.Healthy, pool.Check.Unhealthy = g.Check.Healthy, g.Check.Unhealthy
	}
	for _, t := range g.Targets {
		if !c.admitted(g, t) {
			continue
		}
		target := datacenter.Target{Machine: t.ID, Port: uint16(t.Port)}
		if address, err := netip.ParseAddr(t.ID); err == nil {
			target = datacenter.Target{Address: address, Port: uint16(t.Port)}
		}
		pool.Targets = append(pool.Targets, target)
	}
	return c.Options.Datacenter.PutPool(pool)
}
