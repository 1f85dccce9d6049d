// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/facade"
)

// Platform returns Harvester as a platform that can be simulated.
func Platform() facade.Platform {
	return facade.Platform{Type: v1alpha1.ProviderHarvester, Start: startFacade, Seed: seedFor}
}

func startFacade(ctx context.Context, o facade.Options) (facade.API, error) {
	var seed Seed
	if len(o.Seed) > 0 {
		if err := json.Unmarshal(o.Seed, &seed); err != nil {
			return nil, fmt.Errorf("seed of simulated Harvester: %w", err)
		}
	}
	h, err := Start(ctx, Options{
		Dir: o.Dir, Executable: o.Executable, Datacenter: o.Datacenter, Authority: o.Authority, Network: o.Network, Listen: o.Listen, Seed: seed,
		Create: o.Create, Faults: o.Faults, Auditor: o.Auditor, Observe: o.Observe, Log: o.Log,
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// Credentials implements facade.API.
func (h *Harvester) Credentials() map[string]string {
	return map[string]string{v1alpha1.KeyKubeconfig: h.Kubeconfig()}
}

// Admin implements facade.API.
func (h *Harvester) Admin() string { return h.AdminKubeconfig() }

// seedFor returns what a manifest expects on Harvester.
func seedFor(cb *v1alpha1.ClusterBootstrap, pc *v1alpha1.ProviderConfig) any {
	h := pc.Spec.Harvester
	if h == nil {
		return Seed{}
	}
	s := Seed{Networks: []string{h.NetworkName}}
	if h.Namespace != "" {
		s.Namespaces = []string{h.Namespace}
	}
	if h.ImageName != "" {
		s.Images = []string{h.ImageName}
	}
	if h.StorageClassName != "" {
		s.StorageClasses = []string{h.StorageClassName}
	}
	if u, err := url.Parse(h.Endpoint); err == nil && u.Host != "" {
		s.Hosts = []string{u.Host}
	}
	s.StorageClasses = append(s.StorageClasses, facade.StorageClasses(cb.Spec.Cluster)...)
	return s
}
