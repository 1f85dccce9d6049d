// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// balancers implements provider.LoadBalancers with passthrough network load balancers.
type balancers struct{ *platform }

var _ provider.LoadBalancers = balancers{}

// Observe reads address, forwarding rules, backend services, health checks, instance groups
// and firewall rule.
func (b balancers) Observe(ctx context.Context, ref provider.LoadBalancerRef) (provider.LoadBalancer, error) {
	op := fmt.Sprintf("observe load balancer %q on %s", ref.Name, b.config)
	r, err := b.read(ctx, ref)
	if err != nil {
		return provider.LoadBalancer{}, within(op, err)
	}
	if r.State == provider.StateAbsent {
		begun, err := b.partOperations(ctx, ref.Name)
		if err != nil || running(inserting(begun)) {
			r.State, r.Message = provider.StatePartial, "parts of the load balancer are still being created"
			return r, within(op, err)
		}
		r.Certain = dissolved(begun) && b.hostProject() == b.spec.ProjectID
	}
	return r, nil
}

// read reports what exists of a load balancer.
func (b balancers) read(ctx context.Context, ref provider.LoadBalancerRef) (provider.LoadBalancer, error) {
	found, err := b.find(ctx, ref)
	if err != nil {
		return provider.LoadBalancer{}, err
	}
	return found.report(), nil
}

// inserting selects the operations that create something.
func inserting(all []*computepb.Operation) []*computepb.Operation {
	return slices.DeleteFunc(slices.Clone(all), func(o *computepb.Operation) bool { return o.GetOperationType() != opInsert })
}

// Ensure begins what is missing as far as the parts that it needs are there, and brings in
// line what is there. Operations are not awaited: as long as one was begun, the load
// balancer is Partial, and Ensure is called again.
func (b balancers) Ensure(ctx context.Context, s provider.LoadBalancerSpec) (provider.LoadBalancer, error) {
	op := fmt.Sprintf("ensure load balancer %q on %s", s.Name, b.config)
	if err := cloud.CheckBalancer(op, s); err != nil {
		return provider.LoadBalancer{}, err
	}
	found, err := b.find(ctx, s.LoadBalancerRef)
	if err == nil {
		err = found.Conflict(op)
	}
	if err != nil {
		return provider.LoadBalancer{}, within(op, err)
	}
	begun, err := b.converge(ctx, s, found)
	if err != nil {
		return provider.LoadBalancer{}, within(op, err)
	}
	r := found.report()
	if begun != "" {
		r.State, r.Message = provider.StatePartial, begun
		if failure := b.obstacle(ctx, s.Name); failure != "" {
			r.Message = failure
		}
	}
	return r, nil
}

// obstacle is why the last operation on a part of the load balancer failed; empty if it did
// not, or may not be read.
func (b balancers) obstacle(ctx context.Context, name string) string {
	all, err := b.partOperations(ctx, name)
	if err != nil || len(all) == 0 {
		return ""
	}
	last := all[len(all)-1]
	if failure := failureOf(last); failure != nil {
		return fmt.Sprintf("%s of %s failed: %v", last.GetOperationType(), lastOf(last.GetTargetLink()), failure)
	}
	return ""
}

// partOperations lists the operations on parts of a load balancer, the oldest first. Those on
// a firewall rule of another project are not among them.
func (b balancers) partOperations(ctx context.Context, name string) (all []*computepb.Operation, err error) {
	if all, err = b.zoneOperationsOn(ctx, "instanceGroups/"+partName(name)); err != nil {
		return nil, err
	}
	ctx, end := b.bind(ctx)
	defer end()
	of := fmt.Sprintf("regions/%s/(addresses/%s|(forwardingRules|backendServices|healthChecks)/%s-[0-9]+)", b.spec.Region, partName(name), partName(name))
	regional := &computepb.ListRegionOperationsRequest{Project: b.spec.ProjectID, Region: b.spec.Region, Filter: b.onTarget(of)}
	if err := gather(&all, b.regionOperations.List(ctx, regional).All()); err != nil {
		return nil, err
	}
	if b.hostProject() == b.spec.ProjectID {
		global := &computepb.ListGlobalOperationsRequest{Project: b.spec.ProjectID, Filter: b.onTarget("global/firewalls/" + b.firewallName(name))}
		err = gather(&all, b.globalOperations.List(ctx, global).All())
	}
	return oldestFirst(all), err
}

// dissolved reports whether everything that the operations created was deleted since: nothing
// can appear any more. An operation that failed has no effect.
func dissolved(all []*computepb.Operation) bool {
	last := map[string]*computepb.Operation{}
	for _, o := range all {
		if kind := o.GetOperationType(); !ended(o) && (kind == opInsert || kind == opDelete) {
			last[o.GetTargetLink()] = o
		}
	}
	for _, o := range last {
		if o.GetOperationType() != opDelete || o.GetStatus() != computepb.Operation_DONE {
			return false
		}
	}
	return len(last) > 0
}

// Delete removes the parts in the order in which one uses the other: forwarding rules,
// backend services, then the rest. What is still used is removed when it is asked again.
func (b balancers) Delete(ctx context.Context, ref provider.LoadBalancerRef) error {
	op := fmt.Sprintf("delete load balancer %q on %s", ref.Name, b.config)
	found, err := b.find(ctx, ref)
	if err != nil {
		return within(op, err)
	}
	var kept []error
	for _, stage := range found.stages(b) {
		for _, remove := range stage {
			if err := refusedRemoval(op, ref.Name, remove(ctx)); err != nil {
				kept = append(kept, err)
			}
		}
		if len(stage) > 0 {
			break
		}
	}
	return errors.Join(kept...)
}
