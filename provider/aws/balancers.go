// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"errors"
	"fmt"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// balancers implements provider.LoadBalancers with network load balancers.
type balancers struct{ *platform }

var _ provider.LoadBalancers = balancers{}

// Observe reads load balancer, listeners, target groups, targets and security group.
func (b balancers) Observe(ctx context.Context, ref provider.LoadBalancerRef) (provider.LoadBalancer, error) {
	op := fmt.Sprintf("observe load balancer %q on %s", ref.Name, b.config)
	r, err := b.read(ctx, ref)
	return r, apiError(op, err)
}

// read reports what exists of a load balancer.
func (b balancers) read(ctx context.Context, ref provider.LoadBalancerRef) (provider.LoadBalancer, error) {
	found, err := b.find(ctx, ref)
	if err != nil {
		return provider.LoadBalancer{}, err
	}
	return found.report(), nil
}

// Ensure creates what is missing, in the order in which one part needs the other: the
// security group, which can only be attached at creation, the load balancer, then for each
// port its target group, listener and targets. What is there is brought in line.
func (b balancers) Ensure(ctx context.Context, s provider.LoadBalancerSpec) (provider.LoadBalancer, error) {
	op := fmt.Sprintf("ensure load balancer %q on %s", s.Name, b.config)
	if err := cloud.CheckBalancer(op, s); err != nil {
		return provider.LoadBalancer{}, err
	}
	found, err := b.find(ctx, s.LoadBalancerRef)
	if err == nil {
		err = found.Conflict(op)
	}
	if err == nil {
		err = b.converge(ctx, op, s, found)
	}
	if err != nil {
		return provider.LoadBalancer{}, within(op, err)
	}
	if found, err = b.find(ctx, s.LoadBalancerRef); err != nil {
		return provider.LoadBalancer{}, apiError(op, err)
	}
	return found.report(), nil
}

func (b balancers) converge(ctx context.Context, op string, s provider.LoadBalancerSpec, found *balancer) error {
	subnets, err := b.subnets(ctx)
	if err != nil {
		return err
	}
	if found.vpc = value(subnets[0].VpcId); found.group == nil {
		if err := b.createGroup(ctx, s, found); err != nil {
			return err
		}
	}
	if s.AllowedCIDRs, err = b.withMachines(ctx, s.AllowedCIDRs, found.vpc, subnets); err != nil {
		return err
	}
	if err := b.admit(ctx, s, found.group); err != nil {
		return err
	}
	if found.lb == nil {
		if err := b.createBalancer(ctx, op, s, found, subnets); err != nil {
			return err
		}
	}
	if err := b.crossZones(ctx, found); err != nil {
		return err
	}
	for _, p := range cloud.Ports(s) {
		if err := b.servePort(ctx, s, found, p); err != nil {
			return err
		}
	}
	return b.closePorts(ctx, s, found)
}

// Delete removes the load balancer with its listeners, then target groups, then the
// security group. What AWS still uses is removed when it is asked again.
func (b balancers) Delete(ctx context.Context, ref provider.LoadBalancerRef) error {
	op := fmt.Sprintf("delete load balancer %q on %s", ref.Name, b.config)
	found, err := b.find(ctx, ref)
	if err != nil {
		return apiError(op, err)
	}
	if found.lb != nil {
		if err := b.deleteBalancer(ctx, found); err != nil {
			return apiError(op, err)
		}
	}
	var kept []error
	for _, g := range found.groups {
		kept = append(kept, b.deleteTargets(ctx, g.arn))
	}
	if found.group != nil {
		kept = append(kept, b.deleteGroup(ctx, value(found.group.GroupId)))
	}
	for i, err := range kept {
		if kept[i] = apiError(op, err); gone(err) || provider.ReasonOf(kept[i]) == provider.ReasonPlatformConflict {
			kept[i] = nil
		}
	}
	return errors.Join(kept...)
}
