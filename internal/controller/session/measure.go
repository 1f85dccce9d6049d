// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"time"

	"github.com/butlerdotdev/butler/provider"
)

// called records a call to a platform that has ended.
type called func(operation string, began time.Time, err error)

// called records a call to a platform of the provider.
func (s *Sessions) called(operation string, began time.Time, err error) {
	s.metrics.Called(s.provider.Type, operation, began, err)
}

// measure lets every call to the platform be recorded. What the platform lacks it lacks
// afterwards, too.
func measure(p *provider.Platform, c called) {
	if p.Machines != nil {
		p.Machines = machines{p.Machines, c}
	}
	if p.LoadBalancers != nil {
		p.LoadBalancers = balancers{p.LoadBalancers, c}
	}
	if p.Preflight != nil {
		p.Preflight = preflight{p.Preflight, c}
	}
	if all := p.ObserveAll; all != nil {
		p.ObserveAll = func(ctx context.Context) ([]provider.Machine, error) {
			return timed(c, "observe_machines", func() ([]provider.Machine, error) { return all(ctx) })
		}
	}
	if plan := p.Plan; plan != nil {
		p.Plan = func(ctx context.Context, s provider.MachineSpec, last provider.Attempt) (string, error) {
			return timed(c, "plan_machine", func() (string, error) { return plan(ctx, s, last) })
		}
	}
	if identify := p.Identify; identify != nil {
		p.Identify = func(ctx context.Context) (provider.Identity, error) {
			return timed(c, "identify", func() (provider.Identity, error) { return identify(ctx) })
		}
	}
}

// timed records a call.
func timed[T any](c called, operation string, call func() (T, error)) (T, error) {
	began := time.Now()
	answer, err := call()
	c(operation, began, err)
	return answer, err
}

// machines are machines whose calls are recorded.
type machines struct {
	provider.Machines
	called called
}

// Observe implements provider.Machines.
func (m machines) Observe(ctx context.Context, r provider.MachineRef) (provider.Machine, error) {
	return timed(m.called, "observe_machine", func() (provider.Machine, error) { return m.Machines.Observe(ctx, r) })
}

// Create implements provider.Machines.
func (m machines) Create(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
	return timed(m.called, "create_machine", func() (provider.Machine, error) { return m.Machines.Create(ctx, s) })
}

// Delete implements provider.Machines.
func (m machines) Delete(ctx context.Context, r provider.MachineRef) (provider.Machine, error) {
	return timed(m.called, "delete_machine", func() (provider.Machine, error) { return m.Machines.Delete(ctx, r) })
}

// List implements provider.Machines.
func (m machines) List(ctx context.Context, o provider.Owner) ([]provider.Machine, error) {
	return timed(m.called, "list_machines", func() ([]provider.Machine, error) { return m.Machines.List(ctx, o) })
}

// balancers are load balancers whose calls are recorded.
type balancers struct {
	provider.LoadBalancers
	called called
}

// Observe implements provider.LoadBalancers.
func (b balancers) Observe(ctx context.Context, r provider.LoadBalancerRef) (provider.LoadBalancer, error) {
	return timed(b.called, "observe_load_balancer", func() (provider.LoadBalancer, error) { return b.LoadBalancers.Observe(ctx, r) })
}

// Ensure implements provider.LoadBalancers.
func (b balancers) Ensure(ctx context.Context, s provider.LoadBalancerSpec) (provider.LoadBalancer, error) {
	return timed(b.called, "ensure_load_balancer", func() (provider.LoadBalancer, error) { return b.LoadBalancers.Ensure(ctx, s) })
}

// Delete implements provider.LoadBalancers.
func (b balancers) Delete(ctx context.Context, r provider.LoadBalancerRef) error {
	_, err := timed(b.called, "delete_load_balancer", func() (struct{}, error) { return struct{}{}, b.LoadBalancers.Delete(ctx, r) })
	return err
}

// List implements provider.LoadBalancers.
func (b balancers) List(ctx context.Context, o provider.Owner) ([]provider.LoadBalancer, error) {
	return timed(b.called, "list_load_balancers", func() ([]provider.LoadBalancer, error) { return b.LoadBalancers.List(ctx, o) })
}

// preflight are checks that are recorded.
type preflight struct {
	provider.Preflight
	called called
}

// Check implements provider.Preflight.
func (p preflight) Check(ctx context.Context, wanted []provider.MachineSpec) ([]provider.Finding, error) {
	return timed(p.called, "check", func() ([]provider.Finding, error) { return p.Preflight.Check(ctx, wanted) })
}
