// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

// bench is a suite on its way to being broken.
type bench struct {
	suite *Suite
	p     *inmemory.Platform
}

func TestEveryRuleIsCaughtBreaking(t *testing.T) {
	broken := slices.Concat(breakages(), secondWays(), listBreakages(), copyBreakages(), changeBreakages(), attemptBreakages(), addressBreakages())
	for _, rule := range Rules() {
		if !slices.ContainsFunc(broken, func(b breakage) bool { return b.rule == rule }) {
			t.Errorf("no platform breaks the rule %q", rule)
		}
	}
	for _, b := range broken {
		t.Run(b.rule+"/"+b.how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { onlyFailure(t, b) })
		})
	}
}

// onlyFailure demands that the breakage is caught by its rule and no other.
func onlyFailure(t *testing.T, b breakage) {
	suite, p := inMemory()
	b.apply(bench{&suite, p})
	for _, r := range Check(t.Context(), suite) {
		switch failed := len(r.Failures) > 0; {
		case failed && r.Rule != b.rule:
			t.Errorf("the rule %q catches it too: %v", r.Rule, r.Failures)
		case !failed && r.Rule == b.rule:
			t.Errorf("the rule does not catch it")
		case failed:
			t.Logf("caught: %v", r.Failures)
		}
	}
}

func TestASoundPlatformKeepsEveryRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		suite, _ := inMemory()
		for _, r := range Check(t.Context(), suite) {
			if len(r.Failures) > 0 || r.Unexercised != "" || len(r.Notes) > 0 {
				t.Errorf("%s: %v %s %v", r.Rule, r.Failures, r.Unexercised, r.Notes)
			}
		}
	})
}

// memory is what a broken driver keeps between calls, which no driver should.
type memory struct {
	mu   sync.Mutex
	held map[string]bool
}

func newMemory() *memory { return &memory{held: map[string]bool{}} }

func (m *memory) set(key string, to bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held[key] = to
}

func (m *memory) has(key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held[key]
}

// bent are machines of which some methods are replaced.
type bent struct {
	provider.Machines
	observe func(context.Context, provider.MachineRef) (provider.Machine, error)
	create  func(context.Context, provider.MachineSpec) (provider.Machine, error)
	remove  func(context.Context, provider.MachineRef) (provider.Machine, error)
	list    func(context.Context, provider.Owner) ([]provider.Machine, error)
}

func (b *bent) Observe(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	if b.observe != nil {
		return b.observe(ctx, ref)
	}
	return b.Machines.Observe(ctx, ref)
}

func (b *bent) Create(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
	if b.create != nil {
		return b.create(ctx, s)
	}
	return b.Machines.Create(ctx, s)
}

func (b *bent) Delete(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	if b.remove != nil {
		return b.remove(ctx, ref)
	}
	return b.Machines.Delete(ctx, ref)
}

func (b *bent) List(ctx context.Context, o provider.Owner) ([]provider.Machine, error) {
	if b.list != nil {
		return b.list(ctx, o)
	}
	return b.Machines.List(ctx, o)
}

// bentBalancers are load balancers of which some methods are replaced.
type bentBalancers struct {
	provider.LoadBalancers
	ensure func(context.Context, provider.LoadBalancerSpec) (provider.LoadBalancer, error)
	remove func(context.Context, provider.LoadBalancerRef) error
	list   func(context.Context, provider.Owner) ([]provider.LoadBalancer, error)
}

func (b *bentBalancers) List(ctx context.Context, o provider.Owner) ([]provider.LoadBalancer, error) {
	if b.list != nil {
		return b.list(ctx, o)
	}
	return b.LoadBalancers.List(ctx, o)
}

func (b *bentBalancers) Ensure(ctx context.Context, s provider.LoadBalancerSpec) (provider.LoadBalancer, error) {
	if b.ensure != nil {
		return b.ensure(ctx, s)
	}
	return b.LoadBalancers.Ensure(ctx, s)
}

func (b *bentBalancers) Delete(ctx context.Context, ref provider.LoadBalancerRef) error {
	if b.remove != nil {
		return b.remove(ctx, ref)
	}
	return b.LoadBalancers.Delete(ctx, ref)
}

// connecting changes every connection.
func (b bench) connecting(change func(*provider.Platform)) {
	inner := b.suite.Provider.Connect
	b.suite.Provider.Connect = func(ctx context.Context, c provider.Config) (provider.Platform, error) {
		live, err := inner(ctx, c)
		if err == nil {
			change(&live)
		}
		return live, err
	}
}

// bend replaces methods of the machines of every connection. There is no listing of
// what is bent.
func (b bench) bend(change func(*bent)) {
	b.connecting(func(live *provider.Platform) {
		live.ObserveAll = nil
		m := &bent{Machines: live.Machines}
		change(m)
		live.Machines = m
	})
}

// listingAll changes what ObserveAll of every connection returns.
func (b bench) listingAll(change func([]provider.Machine) []provider.Machine) {
	b.connecting(func(live *provider.Platform) {
		all := live.ObserveAll
		live.ObserveAll = func(ctx context.Context) ([]provider.Machine, error) {
			machines, err := all(ctx)
			return change(machines), err
		}
	})
}

// alter changes what every create is asked for.
func (b bench) alter(change func(*provider.MachineSpec)) {
	b.bend(func(m *bent) {
		m.create = func(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
			change(&s)
			return m.Machines.Create(ctx, s)
		}
	})
}

// failing changes how every create fails.
func (b bench) failing(change func(provider.MachineSpec, *provider.Error)) {
	b.bend(func(m *bent) {
		m.create = func(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
			made, err := m.Machines.Create(ctx, s)
			if e, ok := errors.AsType[*provider.Error](err); ok {
				bad := *e
				change(s, &bad)
				err = &bad
			}
			return made, err
		}
	})
}

// balancing replaces methods of the load balancers of every connection.
func (b bench) balancing(change func(*bentBalancers)) {
	b.connecting(func(live *provider.Platform) {
		lb := &bentBalancers{LoadBalancers: live.LoadBalancers}
		change(lb)
		live.LoadBalancers = lb
	})
}
