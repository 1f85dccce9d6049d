// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalancerrequest

import (
	"context"
	"fmt"
	"slices"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider"
)

// connect finds the platform, and refuses one that has no load balancers.
func (p *pass) connect(ctx context.Context, config *v1alpha1.ProviderConfig) error {
	platform, err := p.claim.Connect(ctx, p.Sessions, config, p.request.ProviderConfig())
	if err != nil {
		return err
	}
	if platform.LoadBalancers == nil {
		return &provider.Error{
			Kind: provider.Invalid, Reason: reasonUnsupported, Op: "look after " + p.claim.What,
			Err:  fmt.Errorf("provider %s has no load balancers", p.Type),
			Hint: "delete this request; an on-premises cluster sets network.vip instead",
		}
	}
	p.platform = platform
	return nil
}

func (p *pass) observe(ctx context.Context) (provider.LoadBalancer, error) {
	ctx, cancel := context.WithTimeout(ctx, request.CallTimeout)
	defer cancel()
	return p.platform.LoadBalancers.Observe(ctx, p.ref())
}

// look observes the load balancer, over a new connection if the present one is
// refused.
func (p *pass) look(ctx context.Context, config *v1alpha1.ProviderConfig) (provider.LoadBalancer, error) {
	b, err := p.observe(ctx)
	if p.Sessions.Refused(p.request.ProviderConfig(), p.platform, err) {
		return p.observeAnew(ctx, config)
	}
	return b, err
}

// see observes the load balancer. That it is absent is believed of its own platform
// alone.
func (p *pass) see(ctx context.Context, config *v1alpha1.ProviderConfig) (provider.LoadBalancer, error) {
	b, err := p.look(ctx, config)
	if err != nil {
		return b, err
	}
	again, err := p.claim.Confirm(ctx, b.State != provider.StateAbsent)
	if err != nil || !again {
		return b, err
	}
	return p.observe(ctx)
}

// observeAnew asks again over a new connection.
func (p *pass) observeAnew(ctx context.Context, config *v1alpha1.ProviderConfig) (provider.LoadBalancer, error) {
	if err := p.connect(ctx, config); err != nil {
		return provider.LoadBalancer{}, err
	}
	return p.observe(ctx)
}

// act asks the platform for what was decided and takes its answer as the facts.
func (p *pass) act(ctx context.Context, a action) error {
	absent := p.facts.balancer.State == provider.StateAbsent
	partial := p.facts.balancer.State == provider.StatePartial
	if a == ensure && (absent || partial) && !p.facts.fresh {
		if err := p.claim.Attempt(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, request.CallTimeout)
	defer cancel()
	if a == remove || absent || partial {
		if err := p.claim.Recheck(ctx); err != nil {
			p.remember(p.facts.balancer, err)
			return nil
		}
	}
	p.facts.asked = a
	if a == remove {
		p.remember(p.facts.balancer, p.platform.LoadBalancers.Delete(ctx, p.ref()))
		return nil
	}
	p.note.Asking()
	b, err := p.platform.LoadBalancers.Ensure(ctx, p.spec())
	p.note.Answered(err)
	if err == nil {
		p.note.Applied = p.request.Generation
	}
	p.created = absent && err == nil
	p.remember(b, err)
	return nil
}

func (p *pass) ref() provider.LoadBalancerRef {
	return provider.LoadBalancerRef{Name: p.request.Name, Owner: p.claim.Owner()}
}

func (p *pass) spec() provider.LoadBalancerSpec {
	s := p.request.Spec
	wanted := provider.LoadBalancerSpec{
		LoadBalancerRef: p.ref(), Port: s.Port, HealthCheckPort: s.HealthCheckPort, Targets: distinct(s.Targets),
	}
	if wanted.HealthCheckPort == 0 {
		wanted.HealthCheckPort = s.Port
	}
	return wanted
}

// distinct names every target once: a platform registers none twice.
func distinct(all []v1alpha1.LoadBalancerTarget) []provider.Target {
	var found []provider.Target
	for _, t := range all {
		target := provider.Target{ID: t.InstanceID, Name: t.InstanceName, IP: t.IP}
		if !slices.Contains(found, target) {
			found = append(found, target)
		}
	}
	return found
}
