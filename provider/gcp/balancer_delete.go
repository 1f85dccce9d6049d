// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"regexp"
	"strings"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// removal asks for the deletion of one part.
type removal func(context.Context) error

// stages returns what is there in the order of deletion: the parts of a stage are used by
// those of the stages before.
func (f *balancer) stages(b balancers) [][]removal {
	var rules, services, rest []removal
	for _, r := range f.rules {
		rules = append(rules, b.dropRule(r.GetName()))
	}
	for _, s := range f.services {
		services = append(services, b.dropService(s.GetName()))
	}
	for _, c := range f.checks {
		rest = append(rest, b.dropCheck(c.GetName()))
	}
	for zone, g := range f.groups {
		rest = append(rest, func(ctx context.Context) error {
			_, err := b.groups.Delete(ctx, &computepb.DeleteInstanceGroupRequest{Project: b.spec.ProjectID, Zone: zone, InstanceGroup: g.GetName()})
			return err
		})
	}
	if f.firewall != nil {
		rest = append(rest, func(ctx context.Context) error {
			_, err := b.firewalls.Delete(ctx, &computepb.DeleteFirewallRequest{Project: b.hostProject(), Firewall: f.firewall.GetName()})
			return err
		})
	}
	if f.address != nil {
		rest = append(rest, func(ctx context.Context) error {
			_, err := b.addresses.Delete(ctx, &computepb.DeleteAddressRequest{Project: b.spec.ProjectID, Region: b.spec.Region, Address: f.address.GetName()})
			return err
		})
	}
	return [][]removal{rules, services, rest}
}

// holder finds what uses a part, in the answer that refuses its deletion.
var holder = regexp.MustCompile(`already being used by '([^']+)'`)

// refusedRemoval is what the refusal of a deletion means. A part that another one of the load
// balancer uses, or that an operation still changes, is asked for again; what else uses it
// is named.
func refusedRemoval(op, name string, err error) error {
	if err == nil || gone(err) {
		return nil
	}
	if !unready(err) {
		return within(op, err)
	}
	user := holder.FindStringSubmatch(cause(err).Error())
	if user == nil || strings.HasPrefix(lastOf(user[1]), partName(name)) {
		return nil
	}
	return provider.InUse.New(op, provider.ReasonDeletionRefused, cause(err), "delete what uses it; the rest is deleted then")
}

func (b balancers) dropRule(name string) removal {
	return func(ctx context.Context) error {
		_, err := b.rules.Delete(ctx, &computepb.DeleteForwardingRuleRequest{Project: b.spec.ProjectID, Region: b.spec.Region, ForwardingRule: name})
		return err
	}
}

func (b balancers) dropService(name string) removal {
	return func(ctx context.Context) error {
		_, err := b.services.Delete(ctx, &computepb.DeleteRegionBackendServiceRequest{Project: b.spec.ProjectID, Region: b.spec.Region, BackendService: name})
		return err
	}
}

func (b balancers) dropCheck(name string) removal {
	return func(ctx context.Context) error {
		_, err := b.checks.Delete(ctx, &computepb.DeleteRegionHealthCheckRequest{Project: b.spec.ProjectID, Region: b.spec.Region, HealthCheck: name})
		return err
	}
}

// closePorts removes the parts of ports that the spec does not have any more, one stage at
// a time.
func (p *pass) closePorts(ctx context.Context) error {
	for _, port := range p.found.ports() {
		if p.wants(port) {
			continue
		}
		remove, name := p.dropCheck, portName(p.Name, port)
		if p.found.services[port] != nil {
			remove = p.dropService
		}
		if p.found.rules[port] != nil {
			remove = p.dropRule
		}
		if err := p.note("a port is being closed", nil, remove(name)(ctx)); err != nil {
			return err
		}
	}
	return nil
}

func (p *pass) wants(port int32) bool {
	for _, w := range cloud.Ports(p.LoadBalancerSpec) {
		if w.Port == port {
			return true
		}
	}
	return false
}
