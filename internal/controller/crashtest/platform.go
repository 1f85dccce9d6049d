// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package crashtest

import (
	"context"
	"net/netip"

	"github.com/butlerdotdev/butler/provider"
)

// connect is no place to die in: it is called by a goroutine of the session, and has
// no effect.
func (w *backend) connect(context.Context, provider.Config) (provider.Platform, error) {
	return provider.Platform{Machines: machines{w}, LoadBalancers: balancers{w}, Identity: "lab=1", Settle: w.Settle}, nil
}

// machines is the driver of the backend's machines.
type machines struct{ *backend }

// Observe implements provider.Machines.
func (m machines) Observe(_ context.Context, ref provider.MachineRef) (provider.Machine, error) {
	return m.report(ref, m.look("Observe", ref.Owner)), nil
}

// Create implements provider.Machines.
func (m machines) Create(_ context.Context, s provider.MachineSpec) (provider.Machine, error) {
	var t *thing
	m.call("Create", s.Owner, func() { t = m.ensure(s.Name, s.Owner, 0) })
	return m.report(s.MachineRef, t), nil
}

// Delete implements provider.Machines.
func (m machines) Delete(_ context.Context, ref provider.MachineRef) (provider.Machine, error) {
	m.call("Delete", ref.Owner, func() { m.remove(ref.Owner) })
	return m.report(ref, m.look("Observe", ref.Owner)), nil
}

// List implements provider.Machines.
func (m machines) List(context.Context, provider.Owner) ([]provider.Machine, error) {
	return nil, &provider.Error{Kind: provider.Invalid, Op: "list machines", Hint: "no reconciler has asked for this so far"}
}

func (m machines) report(ref provider.MachineRef, t *thing) provider.Machine {
	r := provider.Machine{Ref: ref}
	if r.State, r.ID = m.state(t); r.State == provider.StateRunning {
		r.Addresses = []netip.Addr{t.address()}
	}
	return r
}

// balancers is the driver of the backend's load balancers.
type balancers struct{ *backend }

// Observe implements provider.LoadBalancers.
func (b balancers) Observe(_ context.Context, ref provider.LoadBalancerRef) (provider.LoadBalancer, error) {
	return b.report(ref, b.look("Observe", ref.Owner)), nil
}

// Ensure implements provider.LoadBalancers.
func (b balancers) Ensure(_ context.Context, s provider.LoadBalancerSpec) (provider.LoadBalancer, error) {
	var t *thing
	b.call("Ensure", s.Owner, func() { t = b.ensure(s.Name, s.Owner, int32(len(s.Targets))) })
	return b.report(s.LoadBalancerRef, t), nil
}

// Delete implements provider.LoadBalancers.
func (b balancers) Delete(_ context.Context, ref provider.LoadBalancerRef) error {
	b.call("Delete", ref.Owner, func() { b.remove(ref.Owner) })
	return nil
}

// List implements provider.LoadBalancers.
func (b balancers) List(context.Context, provider.Owner) ([]provider.LoadBalancer, error) {
	return nil, &provider.Error{Kind: provider.Invalid, Op: "list load balancers", Hint: "no reconciler has asked for this so far"}
}

func (b balancers) report(ref provider.LoadBalancerRef, t *thing) provider.LoadBalancer {
	r := provider.LoadBalancer{Ref: ref}
	if r.State, r.ID = b.state(t); r.State == provider.StateRunning {
		r.Endpoint, r.Registered = t.address().String(), t.targets
	}
	return r
}
