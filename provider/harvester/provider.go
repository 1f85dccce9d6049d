// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package harvester drives Harvester HCI: machines are KubeVirt VirtualMachines
// with disks from Harvester images.
package harvester

import (
	"context"
	"fmt"

	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// Provider returns the Harvester provider.
func Provider() provider.Provider {
	return provider.Provider{Type: v1alpha1.ProviderHarvester, Connect: connect, Login: login()}
}

// connect creates a client and lists at most one machine with it, which proves
// endpoint, credentials and the most basic permission.
func connect(ctx context.Context, c provider.Config) (provider.Platform, error) {
	op := fmt.Sprintf("connect to Harvester of ProviderConfig %q", c.Name)
	if err := refuseSettings(op, c.Spec); err != nil {
		return provider.Platform{}, err
	}
	config, err := restConfig(op, c)
	if err != nil {
		return provider.Platform{}, err
	}
	api, release, err := newClient(config)
	if err != nil {
		return provider.Platform{}, provider.Invalid.New(op, reasonKubeconfig, err, "correct the kubeconfig in the Secret")
	}
	m := &machines{api: api, spec: *c.Spec.Harvester, config: c.Name, insecure: config.Insecure, pooled: provider.Pooled(c.Spec)}
	if m.spec.Namespace == "" {
		m.spec.Namespace = "default"
	}
	m.recent, m.gathered = newRecent(), newGathered(m)
	list := &kubevirtv1.VirtualMachineList{}
	if err := api.List(ctx, list, client.InNamespace(m.spec.Namespace), client.Limit(1)); err != nil {
		release()
		return provider.Platform{}, connectError(op, err)
	}
	if m.identity, err = m.identify(ctx); err != nil {
		release()
		return provider.Platform{}, connectError(op, err)
	}
	return provider.Platform{Machines: m, Preflight: preflight{m}, Choose: m.choose, Offers: m.offers, Identity: m.identity, Identify: m.identifyAgain, Changes: m.changes, Adopt: m.adopt, Close: release}, nil
}

// refuseSettings refuses what a ProviderConfig can say but Harvester cannot do.
func refuseSettings(op string, s v1alpha1.ProviderConfigSpec) error {
	if s.Harvester == nil {
		return provider.Invalid.New(op, provider.ReasonSettingsMissing, nil, "set spec.harvester")
	}
	return provider.RefuseNetworkWithoutPools(op, "Harvester", s.Network)
}
