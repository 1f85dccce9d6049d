// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package proxmox drives Proxmox VE: machines are VMs that are cloned from a template.
package proxmox

import (
	"context"
	"fmt"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// settle is how long a VM may not be seen that a call has cloned: the task that writes its
// configuration waits for locks, and names are reported every ten seconds.
const settle = 15 * time.Second

// Provider returns the Proxmox VE provider.
func Provider() provider.Provider {
	return provider.Provider{Type: v1alpha1.ProviderProxmox, Connect: connect, Login: login()}
}

// connect logs in and reads version and identity, which proves endpoint and credentials.
func connect(ctx context.Context, c provider.Config) (provider.Platform, error) {
	op := fmt.Sprintf("connect to Proxmox VE of ProviderConfig %q", c.Name)
	if err := refuseSettings(op, c.Spec); err != nil {
		return provider.Platform{}, err
	}
	api, err := newClient(op, c)
	if err != nil {
		return provider.Platform{}, err
	}
	p := newPlatform(api, *c.Spec.Proxmox, c.Name)
	p.pooled = provider.Pooled(c.Spec)
	identity, err := p.connected(ctx, op)
	if err != nil {
		api.release()
		return provider.Platform{}, connectError(op, err)
	}
	m := machines{p}
	return provider.Platform{
		Machines: m, Preflight: preflight{p}, Identity: identity, Identify: p.identify, ObserveAll: m.observeAll,
		Plan: m.plan, Choose: m.choose, Offers: m.offers, Settle: settle, Close: api.release,
	}, nil
}

// refuseSettings refuses what a ProviderConfig can say but Proxmox VE cannot do.
func refuseSettings(op string, s v1alpha1.ProviderConfigSpec) error {
	if s.Proxmox == nil {
		return provider.Invalid.New(op, provider.ReasonSettingsMissing, nil, "set spec.proxmox")
	}
	return provider.RefuseNetworkWithoutPools(op, "Proxmox VE", s.Network)
}
