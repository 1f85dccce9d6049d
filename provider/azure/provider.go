// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package azure drives Microsoft Azure: machines are virtual machines of one resource
// group, load balancers are standard load balancers.
package azure

import (
	"context"
	"fmt"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// settle is how long listings may not show what was created. Azure names no bound; a
// machine is created under its name and cannot be created twice.
const settle = 10 * time.Second

// Provider returns the Azure provider.
func Provider() provider.Provider {
	return provider.Provider{Type: v1alpha1.ProviderAzure, Connect: connect, Login: login()}
}

// connect creates the clients and reads the subscription, which proves endpoint and
// credentials.
func connect(ctx context.Context, c provider.Config) (provider.Platform, error) {
	op := fmt.Sprintf("connect to Azure of ProviderConfig %q", c.Name)
	if err := refuseSettings(op, c); err != nil {
		return provider.Platform{}, err
	}
	api, err := newClients(op, c)
	if err != nil {
		return provider.Platform{}, err
	}
	p := newPlatform(api, *c.Spec.Azure, c.Name)
	reached, err := p.subscription(ctx)
	if err != nil {
		api.release()
		return provider.Platform{}, connectError(op, err)
	}
	return provider.Platform{
		Machines: machines{p}, LoadBalancers: balancers{p}, Preflight: preflight{p, c.Credentials},
		Identity: p.identity(reached), Identify: p.identify, ObserveAll: machines{p}.observeAll, Plan: machines{p}.plan, Choose: machines{p}.choose, Offers: machines{p}.offers, Prices: machines{p}.prices,
		Lifetime: lifetime(c.Credentials), Settle: settle, Close: api.release,
	}, nil
}

// refuseSettings refuses what a ProviderConfig can say but Azure cannot do.
func refuseSettings(op string, c provider.Config) error {
	s := c.Spec
	if s.Azure == nil {
		return provider.Invalid.New(op, provider.ReasonSettingsMissing, nil, "set spec.azure")
	}
	if id := string(c.Credentials.Get(v1alpha1.KeySubscriptionID)); id != "" && id != s.Azure.SubscriptionID {
		return provider.Invalid.New(op, provider.ReasonFieldUnsupported,
			fmt.Errorf("spec.azure.subscriptionID is %s, and the Secret is for %s", s.Azure.SubscriptionID, id), "correct one of them, or remove subscriptionID from the Secret")
	}
	return provider.RefuseNetwork(op, "Azure", s.Network)
}
