// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package inmemory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// balancer is a load balancer as the platform keeps it.
type balancer struct {
	spec    provider.LoadBalancerSpec
	number  uint32
	created time.Time
	partial bool
	deleted time.Time
}

// linkedBalancers are the load balancers as a connection reaches them.
type linkedBalancers struct{ *link }

// Observe implements provider.LoadBalancers.
func (l *linkedBalancers) Observe(ctx context.Context, ref provider.LoadBalancerRef) (provider.LoadBalancer, error) {
	l = &linkedBalancers{l.there()}
	done, err := l.open(ctx, ObserveLoadBalancer, "observe load balancer "+ref.Name)
	if err != nil {
		return provider.LoadBalancer{}, err
	}
	defer l.p.mu.Unlock()
	b := l.p.balancer(ref.Name)
	if b == nil || b.spec.Owner.ID != ref.Owner.ID {
		return provider.LoadBalancer{Ref: ref, State: provider.StateAbsent}, done()
	}
	return l.p.reportBalancer(b), done()
}

// Ensure implements provider.LoadBalancers.
func (l *linkedBalancers) Ensure(ctx context.Context, s provider.LoadBalancerSpec) (provider.LoadBalancer, error) {
	l = &linkedBalancers{l.there()}
	op := fmt.Sprintf("ensure load balancer %q", s.Name)
	done, err := l.open(ctx, EnsureLoadBalancer, op)
	if err != nil {
		return provider.LoadBalancer{}, err
	}
	defer l.p.mu.Unlock()
	b := l.p.balancer(s.Name)
	switch {
	case b == nil:
		l.p.made++
		b = &balancer{number: l.p.made, created: time.Now(), partial: l.p.take(EnsureLoadBalancer, stayPartial)}
		l.p.balancers[s.Name] = b
	case b.spec.Owner.ID != s.Owner.ID:
		return provider.LoadBalancer{}, provider.NameTaken(op, "a load balancer", "name")
	case b.spec.Scheme != s.Scheme:
		return provider.LoadBalancer{}, schemeFixed(op, b.spec.Scheme)
	default:
		b.partial = false
	}
	s.Targets = slices.Clone(s.Targets)
	s.AdditionalPorts, s.AllowedCIDRs = slices.Clone(s.AdditionalPorts), slices.Clone(s.AllowedCIDRs)
	b.spec = s
	return l.p.reportBalancer(b), done()
}

// Delete implements provider.LoadBalancers.
func (l *linkedBalancers) Delete(ctx context.Context, ref provider.LoadBalancerRef) error {
	l = &linkedBalancers{l.there()}
	done, err := l.open(ctx, DeleteLoadBalancer, "delete load balancer "+ref.Name)
	if err != nil {
		return err
	}
	defer l.p.mu.Unlock()
	if b := l.p.balancer(ref.Name); b != nil && b.spec.Owner.ID == ref.Owner.ID && b.deleted.IsZero() {
		b.deleted = time.Now()
	}
	return done()
}

// List implements provider.LoadBalancers.
func (l *linkedBalancers) List(ctx context.Context, o provider.Owner) ([]provider.LoadBalancer, error) {
	l = &linkedBalancers{l.there()}
	done, err := l.open(ctx, ListLoadBalancers, "list load balancers")
	if err != nil {
		return nil, err
	}
	defer l.p.mu.Unlock()
	if err := provider.CheckOwner("list load balancers", o); err != nil {
		return nil, err
	}
	var found []provider.LoadBalancer
	for name := range l.p.balancers {
		if b := l.p.balancer(name); b != nil && b.spec.Owner.Matches(o) {
			lb := l.p.reportBalancer(b)
			lb.Parts = []provider.Part{{Kind: provider.PartLoadBalancer, Name: name}}
			found = append(found, lb)
		}
	}
	return found, done()
}

// open begins an operation. The platform is locked where there is no error.
func (l *linkedBalancers) open(ctx context.Context, op Op, what string) (func() error, error) {
	if err := l.reach(ctx, op, what); err != nil {
		return nil, err
	}
	l.p.mu.Lock()
	done, err := l.p.enter(ctx, op, what)
	if err != nil {
		l.p.mu.Unlock()
	}
	return done, err
}

// LoadBalancers returns the specs of every load balancer that exists.
func (p *Platform) LoadBalancers() []provider.LoadBalancerSpec {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []provider.LoadBalancerSpec
	for name := range p.balancers {
		if b := p.balancer(name); b != nil {
			all = append(all, b.spec)
		}
	}
	return all
}

// balancer returns the one of that name, unless its removal has come to its end.
func (p *Platform) balancer(name string) *balancer {
	b := p.balancers[name]
	if b != nil && !b.deleted.IsZero() && time.Since(b.deleted) >= p.options.DeleteDelay {
		delete(p.balancers, name)
		return nil
	}
	return b
}

// schemeFixed refuses another scheme: no platform moves an endpoint to another network.
func schemeFixed(op string, scheme v1alpha1.LoadBalancerScheme) error {
	return &provider.Error{
		Kind: provider.Invalid, Reason: "SchemeFixed", Op: op, Err: fmt.Errorf("the load balancer is %s", scheme),
		Hint: "delete the request and create a new one",
	}
}

func (p *Platform) reportBalancer(b *balancer) provider.LoadBalancer {
	r := provider.LoadBalancer{
		Ref: b.spec.LoadBalancerRef, State: provider.StateRunning, ID: fmt.Sprintf("load-balancer-%d", b.number),
		Endpoint: address(b.number).String(), Registered: int32(len(b.spec.Targets)),
	}
	switch {
	case !b.deleted.IsZero():
		r.State = provider.StateDeleting
	case b.partial:
		r.State, r.Message = provider.StatePartial, "the load balancer has no listener"
		r.Endpoint, r.Registered = "", 0
	case time.Since(b.created) < p.options.ActiveDelay:
		r.State, r.Message = provider.StatePending, "the load balancer is not active yet"
	}
	return r
}
