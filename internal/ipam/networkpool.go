// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipam

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Describe returns the network of a NetworkPool, and which of its addresses are allocated: the
// gateways and servers of the ProviderConfigs that refer to it never are.
func Describe(pool *v1alpha1.NetworkPool, configs []v1alpha1.ProviderConfig) (p Pool, err error) {
	if p.Prefix, err = netip.ParsePrefix(pool.Spec.CIDR); err != nil {
		return p, fmt.Errorf("spec.cidr: %w", err)
	}
	if p.Ranges, err = rangesOf(pool.Spec.TenantAllocation); err != nil {
		return p, fmt.Errorf("spec.tenantAllocation: %w", err)
	}
	for _, r := range pool.Spec.Reserved {
		prefix, err := netip.ParsePrefix(r.CIDR)
		if err != nil {
			return p, fmt.Errorf("spec.reserved: %w", err)
		}
		p.Reserved = append(p.Reserved, Of(prefix))
	}
	for _, c := range configs {
		p.Reserved = append(p.Reserved, serversOf(c.Spec.Network, pool.Name, p.Prefix)...)
	}
	return p, p.Check()
}

func rangesOf(t *v1alpha1.TenantAllocation) (out []Range, err error) {
	if t == nil {
		return nil, nil
	}
	all := t.Ranges
	if t.Start != "" {
		all = []v1alpha1.AddressRange{{Start: t.Start, End: t.End}}
	}
	for _, r := range all {
		one, err := NewRange(r.Start, r.End)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// serversOf are the addresses of a network that others use: gateway and servers of a
// ProviderConfig with this pool.
func serversOf(n *v1alpha1.ProviderNetworkSpec, pool string, in netip.Prefix) (out []Range) {
	if n == nil || !slices.ContainsFunc(n.PoolRefs, func(r v1alpha1.NetworkPoolReference) bool { return r.Name == pool }) {
		return nil
	}
	for _, text := range slices.Concat([]string{n.Gateway}, n.DNSServers, n.TimeServers) {
		if a, err := netip.ParseAddr(text); err == nil && in.Contains(a) {
			out = append(out, Single(a))
		}
	}
	return out
}

// SpaceOf returns the free space of a pool, according to its claims.
func SpaceOf(p Pool, claims []v1alpha1.AddressClaim) (*Space, error) {
	s, err := NewSpace(p)
	if err != nil {
		return nil, err
	}
	for _, c := range claims {
		if a, err := netip.ParseAddr(c.Spec.Address); err == nil {
			s.Hold(Single(a))
		}
	}
	return s, nil
}

// defaultReuse is how long an address rests where no pool says so.
const defaultReuse = 10 * time.Minute

// ReuseAfter returns how long a released address of a pool rests.
func ReuseAfter(pool *v1alpha1.NetworkPool) time.Duration {
	if pool.Spec.ReuseAfter == nil {
		return defaultReuse
	}
	return pool.Spec.ReuseAfter.Duration
}
