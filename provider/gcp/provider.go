// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package gcp drives Google Cloud: machines are Compute Engine instances, load balancers
// are regional passthrough network load balancers.
package gcp

import (
	"context"
	"fmt"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// settle is how long a listing may lack what was created. Google names no bound; a repeated
// call is recognised by its request ID whatever the time.
const settle = 10 * time.Second

// Provider returns the Google Cloud provider.
func Provider() provider.Provider {
	return provider.Provider{Type: v1alpha1.ProviderGCP, Connect: connect, Login: login()}
}

// connect creates the clients and reads the project, which proves endpoint and credentials.
func connect(ctx context.Context, c provider.Config) (provider.Platform, error) {
	op := fmt.Sprintf("connect to Google Cloud of ProviderConfig %q", c.Name)
	if err := refuseSettings(op, c.Spec); err != nil {
		return provider.Platform{}, err
	}
	api, err := newClients(ctx, op, c)
	if err != nil {
		return provider.Platform{}, err
	}
	p := newPlatform(api, *c.Spec.GCP, c.Name)
	identity, err := p.identify(ctx)
	if err != nil {
		api.release()
		return provider.Platform{}, connectError(op, err)
	}
	return provider.Platform{
		Machines: machines{p}, LoadBalancers: balancers{p}, Preflight: preflight{p, c.Credentials},
		Identity: identity, Identify: p.identify, ObserveAll: machines{p}.observeAll, Plan: machines{p}.plan, Choose: machines{p}.choose, Offers: machines{p}.offers, Prices: machines{p}.prices,
		Lifetime: lifetime(c), Settle: settle, Close: api.release,
	}, nil
}

// refuseSettings refuses what a ProviderConfig can say but Google Cloud cannot do.
func refuseSettings(op string, s v1alpha1.ProviderConfigSpec) error {
	if s.GCP == nil {
		return provider.Invalid.New(op, provider.ReasonSettingsMissing, nil, "set spec.gcp")
	}
	return provider.RefuseNetwork(op, "Google Cloud", s.Network)
}
