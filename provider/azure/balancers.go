// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"fmt"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// balancers implements provider.LoadBalancers with standard load balancers.
type balancers struct{ *platform }

var _ provider.LoadBalancers = balancers{}

// Observe reads address, load balancer and security rules.
func (b balancers) Observe(ctx context.Context, ref provider.LoadBalancerRef) (provider.LoadBalancer, error) {
	op := fmt.Sprintf("observe load balancer %q on %s", ref.Name, b.config)
	found, err := b.find(ctx, ref)
	if err != nil {
		return provider.LoadBalancer{}, apiError(op, err)
	}
	return found.report(), nil
}

// Ensure creates what is missing, in the order in which one part needs the other: the
// address, the load balancer with its rules and probes, the members, and the security rules
// that let clients in. What is there is brought in line.
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
		err = b.converge(ctx, s, found)
	}
	waiting := within(op, err)
	if waiting != nil && !busy(waiting) {
		return provider.LoadBalancer{}, waiting
	}
	if found, err = b.find(ctx, s.LoadBalancerRef); err != nil {
		return provider.LoadBalancer{}, apiError(op, err)
	}
	if how := found.exposure(); how != "" && waiting == nil {
		return provider.LoadBalancer{}, exposed(op, how)
	}
	return pending(found.report(), len(s.Targets), waiting), nil
}

// pending is a report of what is not in line with the spec yet. A change that waits for
// another one has not begun: Partial, so that it is asked for again. Targets that are
// missing have been asked for: Pending.
func pending(r provider.LoadBalancer, targets int, waiting error) provider.LoadBalancer {
	switch {
	case r.State == provider.StateDeleting:
	case waiting != nil:
		r.State, r.Certain, r.Message = provider.StatePartial, false, "waiting for another change: "+waiting.Error()
	case r.State == provider.StateRunning && int(r.Registered) != targets:
		r.State, r.Message = provider.StatePending, fmt.Sprintf("%d of %d targets are registered", r.Registered, targets)
	}
	return r
}

func (b balancers) converge(ctx context.Context, s provider.LoadBalancerSpec, found *balancer) error {
	subnet, err := b.subnet(ctx)
	if err != nil {
		return err
	}
	clients, err := b.clientsOf(ctx, s, subnet)
	if err != nil {
		return err
	}
	if !internal(s.Scheme) && found.unaddressed() {
		if err := b.createFrontend(ctx, s.LoadBalancerRef); err != nil {
			return err
		}
	}
	if err := b.ensureBalancer(ctx, s, found); err != nil {
		return err
	}
	if err := b.ensureMembers(ctx, s, found); err != nil {
		return err
	}
	return b.ensureRules(ctx, s, found, clients)
}

// createFrontend creates the static address of the load balancer.
func (b balancers) createFrontend(ctx context.Context, ref provider.LoadBalancerRef) error {
	at, err := b.location(ctx)
	if err != nil {
		return err
	}
	return b.createAddress(ctx, partName(ref.Owner.ID, ref.Name, suffixFrontend), at, ownerTags(ref.Owner, ref.Name))
}

// ensureBalancer creates the load balancer, or changes it if it differs from the spec.
func (b balancers) ensureBalancer(ctx context.Context, s provider.LoadBalancerSpec, found *balancer) error {
	want, err := b.wanted(ctx, s)
	if err != nil {
		return err
	}
	if found.lb == nil {
		_, err := b.balancers.BeginCreateOrUpdate(ctx, b.spec.ResourceGroup, balancerName(s.Name), want, nil)
		return err
	}
	if deletingBalancer(*found.lb) {
		return provider.PartDeleting("", "load balancer "+value(found.lb.Name))
	}
	same := shape(*found.lb) == shape(want)
	switch {
	case same && !failedBalancer(*found.lb):
		return nil
	case updating(*found.lb):
		return provider.Unavailable.New("", provider.ReasonPlatformConflict, fmt.Errorf("load balancer %s is being changed", value(found.lb.Name)), cloud.HintAgain)
	}
	changed := *found.lb
	changed.Properties = merged(found.lb.Properties, want.Properties)
	_, err = b.balancers.BeginCreateOrUpdate(unchanged(ctx, found.lb.Etag), b.spec.ResourceGroup, balancerName(s.Name), changed, nil)
	return err
}

// Delete closes the ports, removes the members, then the load balancer, then its address.
// What Azure still uses is removed when it is asked again.
func (b balancers) Delete(ctx context.Context, ref provider.LoadBalancerRef) error {
	op := fmt.Sprintf("delete load balancer %q on %s", ref.Name, b.config)
	found, err := b.find(ctx, ref)
	if err != nil {
		return apiError(op, err)
	}
	for _, step := range []func(context.Context, *balancer) error{b.dropRules, b.dropMembers, b.dropBalancer, b.dropFrontend} {
		if err := apiError(op, step(ctx, found)); err != nil {
			if busy(err) {
				return nil
			}
			return err
		}
	}
	return nil
}

func (b balancers) dropBalancer(ctx context.Context, found *balancer) error {
	if found.lb == nil || deletingBalancer(*found.lb) {
		return nil
	}
	_, err := b.balancers.BeginDelete(ctx, b.spec.ResourceGroup, value(found.lb.Name), nil)
	return unlessGone(err)
}

func (b balancers) dropFrontend(ctx context.Context, found *balancer) error {
	if found.address == nil || found.lb != nil || len(found.rules) > 0 {
		return nil
	}
	_, err := b.addresses.BeginDelete(ctx, b.spec.ResourceGroup, value(found.address.Name), nil)
	return unlessGone(err)
}

func unlessGone(err error) error {
	if gone(err) {
		return nil
	}
	return err
}
