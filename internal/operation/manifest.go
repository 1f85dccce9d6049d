// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/talos"
)

// Plannable finds what cannot be had.
func Plannable(m *manifest.Manifest) []manifest.Problem {
	if p := versions(m); len(p) > 0 {
		return p
	}
	if _, err := bootstrap.NewPlan(m.Cluster.Spec); err != nil {
		return m.ProblemsIn(m.Cluster, err)
	}
	if err := bootstrap.CheckEndpoint(m.Cluster.Spec, m.Provider); err != nil {
		return m.ProblemsIn(m.Cluster, err)
	}
	if p := reservable(m); len(p) > 0 {
		return p
	}
	return m.ProblemsIn(m.Provider, bootstrap.CheckCredentials(m.Cluster.Spec, m.Provider))
}

// versions finds those that this build cannot install, or not together.
func versions(m *manifest.Manifest) []manifest.Problem {
	s := m.Cluster.Spec
	if _, err := talos.KubernetesVersion(s.Talos.Version, ""); err != nil {
		return []manifest.Problem{m.At(m.Cluster, "spec.talos.version", err.Error())}
	}
	if _, err := talos.KubernetesVersion(s.Talos.Version, s.Cluster.KubernetesVersion); err != nil {
		return []manifest.Problem{m.At(m.Cluster, "spec.cluster.kubernetesVersion", err.Error())}
	}
	return nil
}
