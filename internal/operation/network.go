// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/manifest"
)

// prospect returns the cluster of a manifest with the addresses that it would get of the
// NetworkPools in the file. It is the cluster as it is where none come from there, or where
// the file lacks a pool: that may be on the plane already.
func prospect(m *manifest.Manifest) (*v1alpha1.ClusterBootstrap, error) {
	cb := m.Cluster
	if len(cb.Status.Allocations) > 0 || !m.Provider.Spec.Network.IPAM() || len(m.Pools) < len(m.Provider.Spec.Network.PoolRefs) {
		return cb, nil
	}
	pools := bootstrap.Pools{Config: m.Provider}
	for _, p := range m.Pools {
		pools.All = append(pools.All, *p)
	}
	allocations, err := pools.Prospect(cb)
	if err != nil {
		return cb, err
	}
	cb = cb.DeepCopy()
	cb.Status.Allocations = allocations
	return cb, nil
}

// Effective returns the spec of the cluster of a manifest with the VIP and the range of load
// balancers that it would get of NetworkPools. Until the pools are known, the range is one
// for documentation (RFC 5737).
func Effective(m *manifest.Manifest) v1alpha1.ClusterBootstrapSpec {
	cb, _ := prospect(m) // an error is reported by Plannable
	spec := bootstrap.Effective(cb)
	if m.Provider.Spec.Network.IPAM() && addon.TakesPool(spec) {
		spec.Network.LoadBalancerPool = &v1alpha1.AddressRange{Start: "192.0.2.2", End: "192.0.2.9"}
	}
	return spec
}

// reservable finds what keeps a cluster from getting its addresses of NetworkPools.
func reservable(m *manifest.Manifest) []manifest.Problem {
	_, err := prospect(m)
	if err == nil {
		return nil
	}
	var about client.Object = m.Cluster
	switch message := err.Error(); {
	case strings.HasPrefix(message, "spec.network.gateway"), strings.HasPrefix(message, "spec.network.subnet"):
		about = m.Provider
	case strings.HasPrefix(message, "NetworkPool"):
		about = m.Pools[0]
	}
	return m.ProblemsIn(about, err)
}
