// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package networkpool

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ipam"
)

// facts are what a namespace has that concerns a pool.
type facts struct {
	claims  []v1alpha1.AddressClaim // of the pool
	others  []v1alpha1.NetworkPool
	configs []v1alpha1.ProviderConfig
}

func (r *Reconciler) read(ctx context.Context, from client.Reader, pool *v1alpha1.NetworkPool) (f facts, err error) {
	claims, pools, configs := &v1alpha1.AddressClaimList{}, &v1alpha1.NetworkPoolList{}, &v1alpha1.ProviderConfigList{}
	for _, list := range []client.ObjectList{claims, pools, configs} {
		if err := from.List(ctx, list, client.InNamespace(pool.Namespace)); err != nil {
			return f, err
		}
	}
	for _, c := range claims.Items {
		if c.Spec.PoolRef.Name == pool.Name {
			f.claims = append(f.claims, c)
		}
	}
	for _, p := range pools.Items {
		if p.Name != pool.Name && p.DeletionTimestamp.IsZero() {
			f.others = append(f.others, p)
		}
	}
	f.configs = configs.Items
	return f, nil
}

func (f facts) allocated() []v1alpha1.AddressClaim {
	return slices.DeleteFunc(slices.Clone(f.claims), released)
}

func (f facts) resting() []v1alpha1.AddressClaim {
	return slices.DeleteFunc(slices.Clone(f.claims), func(c v1alpha1.AddressClaim) bool { return !released(c) })
}

func released(c v1alpha1.AddressClaim) bool { return c.Spec.ReleasedAt != nil }

// without removes claims that exist no more.
func (f *facts) without(gone []v1alpha1.AddressClaim) {
	f.claims = slices.DeleteFunc(f.claims, func(c v1alpha1.AddressClaim) bool {
		return slices.ContainsFunc(gone, func(g v1alpha1.AddressClaim) bool { return g.Name == c.Name })
	})
}

// holders are the names of the allocations that have claims.
func holders(claims []v1alpha1.AddressClaim) (names []string) {
	for _, c := range claims {
		names = append(names, c.Spec.AllocationRef.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// usage is how much of the pool is used; nothing is known of one that is invalid.
func (f facts) usage(pool *v1alpha1.NetworkPool) (u usage) {
	u.allocated, u.resting, u.allocations = len(f.allocated()), len(f.resting()), len(holders(f.allocated()))
	p, err := ipam.Describe(pool, f.configs)
	if err != nil {
		return u
	}
	if space, err := ipam.SpaceOf(p, f.claims); err == nil {
		u.Usage = space.Usage()
		u.withheld = p.Withheld()
	}
	return u
}

// usage is what the status counts.
type usage struct {
	ipam.Usage
	allocated, resting, allocations int
	withheld                        uint64
}
