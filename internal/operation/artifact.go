// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/release"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/sim/registry"
	"github.com/butlerdotdev/butler/internal/talos"
	"github.com/butlerdotdev/butler/internal/version"
)

// AddonsOf are the addons that a manifest asks for.
func AddonsOf(m *manifest.Manifest) ([]addon.Addon, error) {
	spec := Effective(m)
	kubernetes, err := talos.KubernetesVersion(spec.Talos.Version, spec.Cluster.KubernetesVersion)
	if err != nil {
		return nil, err
	}
	digests, err := release.Digests()
	if err != nil {
		return nil, err
	}
	return addon.For(spec, addon.Facts{
		Endpoint: spec.Network.VIP, KubernetesVersion: kubernetes, Version: version.Version, Digests: digests, Platform: m.Provider.Spec,
	})
}

// Artifacts returns what will be fetched for addons, from any source. What this
// program carries or makes itself is none of it.
func Artifacts(addons []addon.Addon) (out []registry.Artifact) {
	for _, a := range addons {
		switch a.Source.Kind {
		case addon.ChartRepository, addon.ChartOCI:
			out = append(out, registry.Artifact{Addon: a.Key, Kind: registry.Chart, URL: a.Source.URL, Name: a.Source.Chart, Version: a.Version})
		case addon.Manifest:
			url := strings.ReplaceAll(a.Source.URL, "%s", a.Version)
			out = append(out, registry.Artifact{Addon: a.Key, Kind: registry.Manifest, URL: url, Version: a.Version})
		case addon.Components:
			for _, p := range a.Providers {
				out = append(out, registry.Artifact{Addon: a.Key, Kind: registry.Provider, URL: p.Download(p.File), Version: p.Version})
			}
		case addon.ChartCarried, addon.Objects:
		}
	}
	return out
}

// HasStandIns reports whether charts or manifests of a rehearsal are stand-ins.
func HasStandIns(s sim.Setup) bool {
	return slices.ContainsFunc(s.Seed.Artifacts, func(a registry.Artifact) bool { return a.Kind != registry.Image })
}

// IdleFaults reports faults of addons that will not happen: no stand-in has what would
// go wrong. What has no stand-in at all is reported when the platform starts.
func IdleFaults(s sim.Setup) []string {
	out, err := registry.Idle(s.Faults, s.Seed.Artifacts)
	if err != nil {
		return nil
	}
	return out
}
