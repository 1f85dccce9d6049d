// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalancerrequest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider"
)

// accept refuses a platform that has no load balancers.
func accept(p *pass, platform *provider.Platform) error {
	if platform.LoadBalancers != nil {
		return nil
	}
	return &provider.Error{
		Kind: provider.Invalid, Reason: reasonUnsupported, Op: "look after " + p.Claim.What,
		Err:  fmt.Errorf("provider %s has no load balancers", p.Type()),
		Hint: "delete this request; an on-premises cluster sets network.vip instead",
	}
}

// observe returns what the platform has for the request.
func observe(ctx context.Context, p *pass) (provider.LoadBalancer, error) {
	return p.Platform.LoadBalancers.Observe(ctx, ref(p))
}

// act ensures or deletes the load balancer.
func act(ctx context.Context, p *pass, a request.Action) (provider.LoadBalancer, error) {
	if a == request.Delete {
		return p.Facts.Seen, p.Platform.LoadBalancers.Delete(ctx, ref(p))
	}
	return p.Platform.LoadBalancers.Ensure(ctx, spec(p))
}

func ref(p *pass) provider.LoadBalancerRef {
	return provider.LoadBalancerRef{Name: p.Request.Name, Owner: p.Claim.Owner()}
}

func spec(p *pass) provider.LoadBalancerSpec {
	s := p.Request.Spec
	return provider.LoadBalancerSpec{
		LoadBalancerRef: ref(p), Port: s.Port, HealthCheckPort: cmp.Or(s.HealthCheckPort, s.Port), Targets: distinct(s.Targets),
		AdditionalPorts: s.AdditionalPorts, Scheme: s.Scheme, AllowedCIDRs: s.AllowedCIDRs,
	}
}

// distinct returns every target once: a platform registers none twice.
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
