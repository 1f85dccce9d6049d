// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package nutanix drives Nutanix AHV through Prism Central: machines are VMs with disks from
// images.
package nutanix

import (
	"context"
	"fmt"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// settle is how long a listing may lack what was created. Nutanix names no bound: Prism
// Central answers listings from an index that follows its changes. A repeated call is not
// recognised by the platform: without an answer it waits longer (Unrepeatable).
const settle = 10 * time.Second

// Provider returns the Nutanix provider.
func Provider() provider.Provider {
	return provider.Provider{Type: v1alpha1.ProviderNutanix, Connect: connect, Login: login()}
}

// connect lists the clusters, which proves endpoint and credentials.
func connect(ctx context.Context, c provider.Config) (provider.Platform, error) {
	op := fmt.Sprintf("connect to Nutanix of ProviderConfig %q", c.Name)
	if err := refuseSettings(op, c.Spec); err != nil {
		return provider.Platform{}, err
	}
	api, err := newPrism(op, c)
	if err != nil {
		return provider.Platform{}, err
	}
	p := newPlatform(api, *c.Spec.Nutanix, c.Name)
	if provider.Pooled(c.Spec) {
		p.pooled = c.Spec.Network
	}
	identity, err := p.identify(ctx)
	if err != nil {
		p.release()
		return provider.Platform{}, keyRefused(c.Credentials, connectError(op, err))
	}
	return provider.Platform{
		Machines: machines{p}, Preflight: preflight{p}, Identity: identity, Identify: p.identifyAgain,
		ObserveAll: machines{p}.observeAll, Plan: machines{p}.plan, Choose: machines{p}.choose, Offers: machines{p}.offers, Settle: settle, Unrepeatable: true, Close: p.release,
	}, nil
}

// refuseSettings refuses what a ProviderConfig can say but Nutanix cannot do.
func refuseSettings(op string, s v1alpha1.ProviderConfigSpec) error {
	if s.Nutanix == nil {
		return provider.Invalid.New(op, provider.ReasonSettingsMissing, nil, "set spec.nutanix")
	}
	return provider.RefuseNetworkWithoutPools(op, "Nutanix", s.Network)
}
