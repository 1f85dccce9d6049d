// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"context"
	"net/netip"

	"github.com/butlerdotdev/butler/provider"
)

func addressBreakages() []breakage {
	return []breakage{
		{ruleAddress, "it is ignored", func(b bench) { b.alter(func(s *provider.MachineSpec) { s.Network = nil }) }},
		{ruleAddress, "it is ignored where it should be refused", func(b bench) {
			b.suite.Network = nil
			b.alter(func(s *provider.MachineSpec) { s.Network = nil })
		}},
		{ruleAddress, "a lease comes first", leaseFirst},
		{ruleAddress, "a lease is kept beside it", func(b bench) { b.leasing(func(int) bool { return true }) }},
		{ruleAddress, "network data beside it is dropped", func(b bench) {
			b.alter(func(s *provider.MachineSpec) {
				if s.Network != nil {
					s.NetworkData = ""
				}
			})
		}},
	}
}

func leaseFirst(b bench) { b.leasing(func(observed int) bool { return observed == 1 }) }

// leasing adds the address of a DHCP server to a machine with an address of its own, at some
// of the times that it is observed.
func (b bench) leasing(when func(observed int) bool) {
	observed := 0
	b.bend(func(m *bent) {
		m.observe = func(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
			r, err := m.Machines.Observe(ctx, ref)
			spec, _ := b.p.Spec(ref.Name)
			if spec.Network == nil || err != nil {
				return r, err
			}
			if observed++; when(observed) {
				r.Addresses = append([]netip.Addr{netip.MustParseAddr("192.0.2.200")}, r.Addresses...)
			}
			return r, err
		}
	})
}
