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
)

// balancers implements provider.LoadBalancers with passthrough network load balancers.
type balancers struct{ *platform }

var _ provider.LoadBalancers = balancers{}

// Observe reads address, forwarding rules, backend services, health checks, instance groups
// and firewall rule.
func (b balancers) Observe(ctx context.Context, ref provider.LoadBalancerRef) (provider.LoadBalancer, error) {
	op := fmt.Sprintf("observe load balancer %q on %s", ref.Name, b.config)
	found, err := b.find(ctx, ref)
	if err != nil {
		return provider.LoadBalancer{}, within(op, err)
	}
	r := found.report()
	if r.State == provider.StateAbsent {
		if begun, err := b.partOperations(ctx, ref.Name); err != nil || running(inserting(begun)) {
			r.State, r.Message = provider.StatePartial, "parts of the load balancer are still being created"
			return r, within(op, err)
		}
	}
	return r, nil
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
	if s.Owner.ID == "" {
		return provider.LoadBalancer{}, provider.Invalid.New(op, provider.ReasonOwnerMissing, errors.New("the load balancer has no owner"), "name the owner")
	}
	found, err := b.find(ctx, s.LoadBalancerRef)
	if err == nil {
		err = found.conflict(op)
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

// partOperations lists the operations on parts of a load balancer, the oldest first. Those of
// another one whose name begins alike only delay an answer.
func (b balancers) partOperations(ctx context.Context, name string) ([]*computepb.Operation, error) {
	return b.listOperations(ctx, "(addresses|forwardingRules|backendServices|healthChecks|instanceGroups|firewalls)/"+partName(name)+".*")
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
			if err := remove(ctx); err != nil && !gone(err) && !unready(err) {
				kept = append(kept, within(op, err))
			}
		}
		if len(stage) > 0 {
			break
		}
	}
	return errors.Join(kept...)
}
