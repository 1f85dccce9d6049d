// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"maps"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// balancerDefaults are the attributes of a network load balancer.
func balancerDefaults() map[string]string {
	return map[string]string{
		"deletion_protection.enabled": "false", "load_balancing.cross_zone.enabled": "false", "access_logs.s3.enabled": "false",
		"access_logs.s3.bucket": "", "access_logs.s3.prefix": "", "ipv6.deny_all_igw_traffic": "false",
		"dns_record.client_routing_policy": "any_availability_zone", "zonal_shift.config.enabled": "false",
	}
}

func showAttributes(defaults, set map[string]string) members {
	all := maps.Clone(defaults)
	maps.Copy(all, set)
	out := members{}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		out = append(out, fields{"Key", key, "Value", all[key]})
	}
	return out
}

// readAttributes reads those of a request, which must be known.
func (c *call) readAttributes(known map[string]string) (map[string]string, error) {
	out := map[string]string{}
	for _, p := range c.params.Each("Attributes.member") {
		key, value := p.String("Key"), p.String("Value")
		before, found := known[key]
		if !found {
			return nil, refuse("ValidationError", "%s attribute key '%s' is not recognized", attributed(c.operation), key)
		}
		if (before == "true" || before == "false") && value != "true" && value != "false" {
			return nil, refuse("ValidationError", "'%s' must be 'true' or 'false', not '%s'", key, value)
		}
		out[key] = value
	}
	return out, nil
}

func attributed(operation string) string {
	if strings.Contains(operation, "TargetGroup") {
		return "Target group"
	}
	return "Load balancer"
}

func describeBalancerAttributes(c *call) (fields, error) {
	b, err := c.balancer(c.params.String("LoadBalancerArn"))
	if err != nil {
		return nil, err
	}
	return fields{"Attributes", showAttributes(balancerDefaults(), b.Attributes)}, nil
}

func modifyBalancerAttributes(c *call) (fields, error) {
	b, err := c.balancer(c.params.String("LoadBalancerArn"))
	if err != nil {
		return nil, err
	}
	changed, err := c.readAttributes(balancerDefaults())
	if err != nil {
		return nil, err
	}
	maps.Copy(b.Attributes, changed)
	c.st.balancers.Put(b.ID, b)
	return fields{"Attributes", showAttributes(balancerDefaults(), b.Attributes)}, c.apply(b)
}

func setGroups(c *call) (fields, error) {
	b, err := c.balancer(c.params.String("LoadBalancerArn"))
	if err != nil {
		return nil, err
	}
	if len(b.Groups) == 0 {
		return nil, refuse("InvalidConfigurationRequest", "Security groups cannot be set on load balancer '%s', which was created without security groups", b.ARN)
	}
	changed := *b
	if err := c.balancerGroups(&changed); err != nil {
		return nil, err
	}
	b.Groups = changed.Groups
	c.st.balancers.Put(b.ID, b)
	groups := members{}
	for _, id := range b.Groups {
		groups = append(groups, id)
	}
	return fields{"SecurityGroupIds", groups}, c.apply(b)
}

// elbTags reads the tags of a request.
func (c *call) elbTags() (tags, error) {
	out, err := readTags(c.params.Each("Tags.member"))
	if err != nil {
		if refused, ok := err.(refusal); ok && refused.code == "TagLimitExceeded" { //nolint:errorlint // it is not wrapped
			return nil, refuse("TooManyTags", "The maximum number of tags per resource has been reached")
		}
		return nil, refuse("ValidationError", "%v", err)
	}
	return out, nil
}

// balancerTags finds the tags of a load balancer, target group or listener.
func (s *state) balancerTags(arn string) (t *tags, keep func(), found bool) {
	id := idOf(arn)
	if b := s.balancers.ByID[id]; b != nil && b.ARN == arn {
		return &b.Tags, func() { s.balancers.Put(id, b) }, true
	}
	if g := s.targetGroups.ByID[id]; g != nil && g.ARN == arn {
		return &g.Tags, func() { s.targetGroups.Put(id, g) }, true
	}
	if l := s.listeners.ByID[id]; l != nil && l.ARN == arn {
		return &l.Tags, func() { s.listeners.Put(id, l) }, true
	}
	return nil, nil, false
}

// resourceMissing is the refusal for an ARN that names nothing.
func resourceMissing(arn string) error {
	switch {
	case strings.Contains(arn, ":targetgroup/"):
		return refuse("TargetGroupNotFound", "Target groups '%s' not found", arn)
	case strings.Contains(arn, ":listener/"):
		return refuse("ListenerNotFound", "Listeners '%s' not found", arn)
	case strings.Contains(arn, ":loadbalancer/"):
		return refuse("LoadBalancerNotFound", "Load balancers '%s' not found", arn)
	}
	return refuse("ValidationError", "'%s' is not a valid ARN", arn)
}

// eachTagged calls do for each resource of a request, after all were found.
func (c *call) eachTagged(do func(arn string, t *tags) error) error {
	arns := c.params.List("ResourceArns.member")
	if len(arns) > 20 {
		return refuse("ValidationError", "At most 20 resources can be specified")
	}
	for _, arn := range arns {
		if _, _, found := c.st.balancerTags(arn); !found {
			return resourceMissing(arn)
		}
	}
	for _, arn := range arns {
		t, keep, _ := c.st.balancerTags(arn)
		if err := do(arn, t); err != nil {
			return err
		}
		keep()
	}
	c.auditBalancers()
	return nil
}

func addBalancerTags(c *call) (fields, error) {
	wanted, err := c.elbTags()
	if err != nil {
		return nil, err
	}
	return fields{}, c.eachTagged(func(_ string, t *tags) error {
		merged := tags{}
		maps.Copy(merged, *t)
		maps.Copy(merged, wanted)
		if len(merged) > maxTags {
			return refuse("TooManyTags", "The maximum number of tags per resource has been reached")
		}
		*t = merged
		return nil
	})
}

func removeBalancerTags(c *call) (fields, error) {
	return fields{}, c.eachTagged(func(_ string, t *tags) error {
		for _, key := range c.params.List("TagKeys.member") {
			delete(*t, key)
		}
		return nil
	})
}

func describeBalancerTags(c *call) (fields, error) {
	out := members{}
	arns := c.params.List("ResourceArns.member")
	if len(arns) > 20 {
		return nil, refuse("ValidationError", "At most 20 resources can be specified")
	}
	for _, arn := range arns {
		t, _, found := c.st.balancerTags(arn)
		if !found {
			return nil, resourceMissing(arn)
		}
		shown := members{}
		for _, key := range slices.Sorted(maps.Keys(*t)) {
			shown = append(shown, fields{"Key", key, "Value", (*t)[key]})
		}
		out = append(out, fields{"ResourceArn", arn, "Tags", shown})
	}
	return fields{"TagDescriptions", out}, nil
}

// balancerName is the name of the load balancer or target group of a request.
func (a *AWS) balancerName(q request) string {
	if name := q.params.String("Name"); name != "" {
		return name
	}
	for _, key := range []string{"LoadBalancerArn", "TargetGroupArn", "ListenerArn", "ResourceArns.member.1"} {
		parts := strings.Split(q.params.String(key), "/")
		switch {
		case len(parts) == 3: // targetgroup/name/id
			return parts[1]
		case len(parts) > 3: // loadbalancer/net/name/id, listener/net/name/id/id
			return parts[2]
		}
	}
	return ""
}

func (a *AWS) auditBalancer(b *balancer) {
	a.record(audit.Object{Resource: fault.LoadBalancer, ID: b.ARN, Name: b.Name}, b.Tags)
}

func (a *AWS) auditBalancers() {
	for _, b := range a.st.balancers.All() {
		a.auditBalancer(b)
	}
	for _, g := range a.st.targetGroups.All() {
		a.record(audit.Object{Resource: fault.Network, ID: g.ARN, Name: g.Name}, g.Tags)
	}
	for _, l := range a.st.listeners.All() {
		a.record(audit.Object{Resource: fault.Network, ID: l.ARN, Name: idOf(l.ARN)}, l.Tags)
	}
}
