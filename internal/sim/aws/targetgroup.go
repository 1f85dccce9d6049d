// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

type targetGroup struct {
	ID, ARN, Name, Protocol, VPC, TargetType string
	Port                                     int
	Check                                    healthCheck
	Attributes                               map[string]string
	Targets                                  []registered
	Tags                                     tags
}

type healthCheck struct {
	Protocol, Port, Path                  string
	Interval, Timeout, Healthy, Unhealthy int
}

// port is the port that a target is checked at.
func (h healthCheck) port(t registered) string {
	if h.Port == "traffic-port" {
		return strconv.Itoa(t.Port)
	}
	return h.Port
}

// registered is a target of a group: an instance or an address, with a port.
type registered struct {
	ID   string
	Port int
}

func (c *call) targetGroup(arn string) (*targetGroup, error) {
	if g := c.st.targetGroups.ByID[idOf(arn)]; g != nil && g.ARN == arn {
		return g, nil
	}
	return nil, refuse("TargetGroupNotFound", "One or more target groups not found")
}

func createTargetGroup(c *call) (fields, error) {
	g := &targetGroup{
		ID: randomHex(16), Name: c.params.String("Name"), Protocol: c.params.String("Protocol"), VPC: c.params.String("VpcId"),
		TargetType: c.params.String("TargetType"), Port: c.params.Int("Port", 0), Attributes: map[string]string{},
		Check: healthCheck{Protocol: "TCP", Port: "traffic-port", Interval: 30, Timeout: 10, Healthy: 5, Unhealthy: 2},
	}
	g.TargetType = cmp.Or(g.TargetType, "instance")
	if err := c.checkTargetGroup(g); err != nil {
		return nil, err
	}
	var err error
	if g.Tags, err = c.elbTags(); err != nil {
		return nil, err
	}
	for _, other := range c.st.targetGroups.All() {
		if other.Name != g.Name {
			continue
		}
		if other.Protocol != g.Protocol || other.Port != g.Port || other.VPC != g.VPC || other.TargetType != g.TargetType || other.Check != g.Check || !maps.Equal(other.Tags, g.Tags) {
			return nil, refuse("DuplicateTargetGroupName", "A target group with the same name '%s' exists, but with different settings", g.Name)
		}
		return c.showTargetGroups([]*targetGroup{other}, nil), nil
	}
	if len(c.st.targetGroups.ByID) >= maxTargetGroups {
		return nil, c.overQuota(c.request)
	}
	g.ARN = c.arn(elb, "targetgroup/"+g.Name+"/"+g.ID)
	c.st.targetGroups.Put(g.ID, g)
	c.auditBalancers()
	return c.showTargetGroups([]*targetGroup{g}, nil), c.applyPool(g)
}

func (c *call) checkTargetGroup(g *targetGroup) error {
	if err := checkName("Target group", g.Name); err != nil {
		return err
	}
	switch {
	case g.Protocol == "" || g.Port == 0:
		return refuse("ValidationError", "A port and a protocol must be specified")
	case g.Protocol != "TCP":
		return refuse("UnsupportedOperation", "The simulated platform has target groups of protocol TCP only")
	case g.TargetType != "instance" && g.TargetType != "ip":
		return refuse("UnsupportedOperation", "The simulated platform has targets of type instance and ip only")
	case g.VPC == "":
		return refuse("ValidationError", "A VPC ID must be specified")
	case c.st.vpcs.ByID[g.VPC] == nil:
		return refuse("ValidationError", "The VPC ID '%s' is not found", g.VPC)
	}
	return c.readCheck(&g.Check)
}

// readCheck reads the health check of a request.
func (c *call) readCheck(h *healthCheck) error {
	p := c.params
	for name, field := range map[string]*string{"HealthCheckProtocol": &h.Protocol, "HealthCheckPort": &h.Port, "HealthCheckPath": &h.Path} {
		if p.Has(name) {
			*field = p.String(name)
		}
	}
	h.Interval, h.Timeout = p.Int("HealthCheckIntervalSeconds", h.Interval), p.Int("HealthCheckTimeoutSeconds", h.Timeout)
	h.Healthy, h.Unhealthy = p.Int("HealthyThresholdCount", h.Healthy), p.Int("UnhealthyThresholdCount", h.Unhealthy)
	port, err := strconv.Atoi(h.Port)
	switch {
	case h.Protocol != "TCP" && h.Protocol != "HTTP" && h.Protocol != "HTTPS":
		return refuse("ValidationError", "Health check protocol '%s' is not supported", h.Protocol)
	case h.Port != "traffic-port" && (err != nil || port < 1 || port > 65535):
		return refuse("ValidationError", "Health check port '%s' must be 'traffic-port' or a number between 1 and 65535", h.Port)
	case h.Timeout >= h.Interval:
		return refuse("ValidationError", "Health check timeout '%d' must be smaller than the interval '%d'", h.Timeout, h.Interval)
	case h.Protocol == "TCP" && h.Path != "":
		return refuse("ValidationError", "Health check path cannot be specified for health check protocol TCP")
	}
	return nil
}

func modifyTargetGroup(c *call) (fields, error) {
	g, err := c.targetGroup(c.params.String("TargetGroupArn"))
	if err != nil {
		return nil, err
	}
	changed := g.Check
	if err := c.readCheck(&changed); err != nil {
		return nil, err
	}
	g.Check = changed
	c.st.targetGroups.Put(g.ID, g)
	return c.showTargetGroups([]*targetGroup{g}, nil), c.applyPool(g)
}

func deleteTargetGroup(c *call) (fields, error) {
	g, err := c.targetGroup(c.params.String("TargetGroupArn"))
	if err != nil {
		return fields{}, nil //nolint:nilerr // it is deleted
	}
	if len(c.balancersOf(g)) > 0 {
		return nil, refuse("ResourceInUse", "Target group '%s' is currently in use by a listener or a rule", g.ARN)
	}
	c.st.targetGroups.Remove(g.ID)
	c.auditGone(g.ARN)
	return fields{}, c.Options.Datacenter.RemovePool(g.ID)
}

// balancersOf are the load balancers with a listener that forwards to a group.
func (c *call) balancersOf(g *targetGroup) (out []string) {
	for _, l := range c.st.listeners.All() {
		if l.TargetGroup == g.ARN && !slices.Contains(out, l.Balancer) {
			out = append(out, l.Balancer)
		}
	}
	return out
}

func describeTargetGroups(c *call) (fields, error) {
	arns, names := c.params.List("TargetGroupArns.member"), c.params.List("Names.member")
	lb := c.params.String("LoadBalancerArn")
	all := c.st.targetGroups.Where(func(g *targetGroup) bool {
		switch {
		case lb != "":
			return slices.Contains(c.balancersOf(g), lb)
		case len(arns)+len(names) > 0:
			return slices.Contains(arns, g.ARN) || slices.Contains(names, g.Name)
		}
		return true
	})
	if len(all) < len(arns)+len(names) {
		return nil, refuse("TargetGroupNotFound", "One or more target groups not found")
	}
	if lb != "" {
		if _, err := c.balancer(lb); err != nil {
			return nil, err
		}
	}
	part, next, err := page(c, elbPages(), all)
	if err != nil {
		return nil, err
	}
	return c.showTargetGroups(part, next), nil
}

func (c *call) showTargetGroups(all []*targetGroup, next any) fields {
	return fields{"TargetGroups", members(list(all, c.showTargetGroup)), "NextMarker", next}
}

func (c *call) showTargetGroup(g *targetGroup) fields {
	arns := members{}
	for _, arn := range c.balancersOf(g) {
		arns = append(arns, arn)
	}
	return fields{
		"TargetGroupArn", g.ARN, "TargetGroupName", g.Name, "Protocol", g.Protocol, "Port", g.Port, "VpcId", g.VPC, "TargetType", g.TargetType,
		"HealthCheckEnabled", true, "HealthCheckProtocol", g.Check.Protocol, "HealthCheckPort", g.Check.Port, "HealthCheckPath", optional(g.Check.Path),
		"HealthCheckIntervalSeconds", g.Check.Interval, "HealthCheckTimeoutSeconds", g.Check.Timeout, "HealthyThresholdCount", g.Check.Healthy,
		"UnhealthyThresholdCount", g.Check.Unhealthy, "LoadBalancerArns", arns, "IpAddressType", "ipv4",
	}
}

// targetGroupDefaults are the attributes of a group. The client's address is kept unless
// targets are addresses.
func targetGroupDefaults(g *targetGroup) map[string]string {
	return map[string]string{
		"deregistration_delay.timeout_seconds": "300", "deregistration_delay.connection_termination.enabled": "false",
		"preserve_client_ip.enabled": strconv.FormatBool(g.TargetType == "instance"), "proxy_protocol_v2.enabled": "false",
		"stickiness.enabled": "false", "stickiness.type": "source_ip", "load_balancing.cross_zone.enabled": "use_load_balancer_configuration",
		"target_health_state.unhealthy.connection_termination.enabled": "true", "target_health_state.unhealthy.draining_interval_seconds": "0",
	}
}

func (g *targetGroup) attribute(key string) string {
	if value, set := g.Attributes[key]; set {
		return value
	}
	return targetGroupDefaults(g)[key]
}

func describeTargetGroupAttributes(c *call) (fields, error) {
	g, err := c.targetGroup(c.params.String("TargetGroupArn"))
	if err != nil {
		return nil, err
	}
	return fields{"Attributes", showAttributes(targetGroupDefaults(g), g.Attributes)}, nil
}

func modifyTargetGroupAttributes(c *call) (fields, error) {
	g, err := c.targetGroup(c.params.String("TargetGroupArn"))
	if err != nil {
		return nil, err
	}
	changed, err := c.readAttributes(targetGroupDefaults(g))
	if err != nil {
		return nil, err
	}
	if delay, given := changed["deregistration_delay.timeout_seconds"]; given {
		if seconds, err := strconv.Atoi(delay); err != nil || seconds < 0 || seconds > 3600 {
			return nil, refuse("ValidationError", "'deregistration_delay.timeout_seconds' must be between 0 and 3600, not '%s'", strings.TrimSpace(delay))
		}
	}
	maps.Copy(g.Attributes, changed)
	c.st.targetGroups.Put(g.ID, g)
	return fields{"Attributes", showAttributes(targetGroupDefaults(g), g.Attributes)}, c.applyPool(g)
}
