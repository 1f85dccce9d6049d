// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package aws drives Amazon Web Services: machines are EC2 instances, load balancers are
// network load balancers.
package aws

import (
	"context"
	"fmt"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// settle is how long EC2 may not show what it has created. AWS names no bound; a repeated
// call is recognised by its token whatever the time.
const settle = 10 * time.Second

// Provider returns the AWS provider.
func Provider() provider.Provider {
	return provider.Provider{Type: v1alpha1.ProviderAWS, Connect: connect, Login: login()}
}

// connect creates the clients of all services and asks whose credentials these are, which
// proves endpoint and credentials.
func connect(ctx context.Context, c provider.Config) (provider.Platform, error) {
	op := fmt.Sprintf("connect to AWS of ProviderConfig %q", c.Name)
	if err := refuseSettings(op, c.Spec); err != nil {
		return provider.Platform{}, err
	}
	api, err := newClients(ctx, op, c)
	if err != nil {
		return provider.Platform{}, err
	}
	p := newPlatform(api, *c.Spec.AWS, c.Name)
	identity, err := p.identify(ctx)
	if err != nil {
		api.release()
		return provider.Platform{}, connectError(op, err)
	}
	return provider.Platform{
		Machines: machines{p}, LoadBalancers: balancers{p}, Preflight: preflight{p, c.Credentials},
		Identity: identity, Identify: p.identify, ObserveAll: machines{p}.observeAll, Plan: machines{p}.plan, Choose: machines{p}.choose, Offers: machines{p}.offers, Prices: machines{p}.prices,
		Lifetime: lifetime(c.Credentials), Settle: settle, Close: api.release,
	}, nil
}

// refuseSettings refuses what a ProviderConfig can say but AWS cannot do.
func refuseSettings(op string, s v1alpha1.ProviderConfigSpec) error {
	if s.AWS == nil {
		return provider.Invalid.New(op, provider.ReasonSettingsMissing, nil, "set spec.aws")
	}
	return provider.RefuseNetwork(op, "AWS", s.Network)
}
