// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/provider"
)

// prospect returns the cluster of a manifest with the addresses that it would get of the
// NetworkPools in the file. It is the cluster as it is where none come from there, or where
// the file lacks a pool: that may be on the plane already.
func prospect(m *manifest.Manifest) (*v1alpha1.ClusterBootstrap, error) {
	if len(m.Cluster.Status.Allocations) > 0 || !m.Provider.Spec.Network.IPAM() || len(m.Pools) < len(m.Provider.Spec.Network.PoolRefs) {
		return m.Cluster, nil
	}
	return prospectOf(m, filePools(m))
}

// filePools are the NetworkPools of a manifest.
func filePools(m *manifest.Manifest) bootstrap.Pools {
	pools := bootstrap.Pools{Config: m.Provider}
	for _, p := range m.Pools {
		pools.All = append(pools.All, *p)
	}
	return pools
}

// prospectOf returns the cluster of a manifest with the addresses that it would get of pools.
func prospectOf(m *manifest.Manifest, pools bootstrap.Pools) (*v1alpha1.ClusterBootstrap, error) {
	allocations, err := pools.Prospect(m.Cluster)
	if err != nil {
		return m.Cluster, err
	}
	cb := m.Cluster.DeepCopy()
	cb.Status.Allocations = allocations
	return cb, nil
}

// checkPools returns the manifest of a new cluster with the addresses that it would get, and
// why it would not get them: the plane may have addresses of other clusters, and pools that
// the file lacks. Addresses that only rest do not refuse a cluster: it waits for them.
func (o *Operation) checkPools(m *manifest.Manifest) (*manifest.Manifest, []provider.Finding, error) {
	if !m.Provider.Spec.Network.IPAM() {
		return m, nil, nil
	}
	pools, err := o.planePools(m)
	if err != nil {
		return nil, nil, err
	}
	f := provider.Finding{Check: "reservation of addresses", Verdict: provider.Passed}
	cb, why := prospectOf(m, pools)
	if why != nil {
		f.Verdict, f.Message = provider.Refused, why.Error()
		pools.Claims = slices.DeleteFunc(pools.Claims, func(c v1alpha1.AddressClaim) bool { return c.Spec.ReleasedAt != nil })
		if cb, err = prospectOf(m, pools); err == nil {
			f.Verdict, f.Hint = provider.Unknown, "or wait: no machine is created before released addresses have rested"
		}
	}
	with := *m
	with.Cluster = cb
	return &with, []provider.Finding{f}, nil
}

// planePools are the NetworkPools of a manifest with those that the plane has besides, and
// the addresses that are allocated there or rest.
func (o *Operation) planePools(m *manifest.Manifest) (bootstrap.Pools, error) {
	pools := filePools(m)
	if o.Client() == nil {
		return pools, nil // a cluster that is only planned may have no plane
	}
	known, claims := &v1alpha1.NetworkPoolList{}, &v1alpha1.AddressClaimList{}
	if err := o.Client().List(o.ctx, known, client.InNamespace(m.Provider.Namespace)); err != nil {
		return pools, err
	}
	if err := o.Client().List(o.ctx, claims); err != nil {
		return pools, err
	}
	for _, p := range known.Items {
		if !slices.ContainsFunc(pools.All, func(o v1alpha1.NetworkPool) bool { return o.Name == p.Name }) {
			pools.All = append(pools.All, p)
		}
	}
	pools.Claims = claims.Items
	return pools, nil
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
