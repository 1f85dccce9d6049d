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

// facts are what concerns a pool.
type facts struct {
	claims  []v1alpha1.AddressClaim // of the pool
	others  []rival
	configs []v1alpha1.ProviderConfig // of its namespace
}

// rival is another pool, of any namespace: an address is allocated once on a plane.
type rival struct {
	v1alpha1.NetworkPool

	used bool // some of its addresses are claimed
}

func (r *Reconciler) read(ctx context.Context, from client.Reader, pool *v1alpha1.NetworkPool) (f facts, err error) {
	claims, pools, configs := &v1alpha1.AddressClaimList{}, &v1alpha1.NetworkPoolList{}, &v1alpha1.ProviderConfigList{}
	if err := from.List(ctx, claims, client.UnsafeDisableDeepCopy); err != nil {
		return f, err
	}
	if err := from.List(ctx, pools, client.UnsafeDisableDeepCopy); err != nil {
		return f, err
	}
	if err := from.List(ctx, configs, client.InNamespace(pool.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return f, err
	}
	used := map[v1alpha1.NamespacedReference]bool{}
	for _, c := range claims.Items {
		used[c.Spec.PoolRef] = true
		if c.Spec.PoolRef == reference(pool) {
			f.claims = append(f.claims, c)
		}
	}
	for _, p := range pools.Items {
		if reference(&p) != reference(pool) && p.DeletionTimestamp.IsZero() {
			f.others = append(f.others, rival{p, used[reference(&p)]})
		}
	}
	f.configs = configs.Items
	return f, nil
}

func reference(p *v1alpha1.NetworkPool) v1alpha1.NamespacedReference {
	return v1alpha1.NamespacedReference{Namespace: p.Namespace, Name: p.Name}
}

func (f facts) allocated() []v1alpha1.AddressClaim {
	return slices.DeleteFunc(slices.Clone(f.claims), released)
}

func (f facts) resting() []v1alpha1.AddressClaim {
	return slices.DeleteFunc(slices.Clone(f.claims), func(c v1alpha1.AddressClaim) bool { return !released(c) })
}

func released(c v1alpha1.AddressClaim) bool { return c.Spec.ReleasedAt != nil }

// holders are the names of the allocations that have claims.
func holders(claims []v1alpha1.AddressClaim) (names []string) {
	for _, c := range claims {
		names = append(names, c.Spec.AllocationRef.Namespace+"/"+c.Spec.AllocationRef.Name)
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
