// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"context"
	"slices"

	"github.com/butlerdotdev/butler/provider"
)

// copyBreakages confuse a machine with its copies.
func copyBreakages() []breakage {
	const rule = "copies are kept"
	return []breakage{
		{rule, "copies are deleted with the machine", copiesDeleted},
		{rule, "a copy is a machine of its owner", copyObserved},
		{rule, "copies are parts of the machine", func(b bench) {
			b.listing(func(m *provider.Machine) { m.Parts = append(m.Parts, m.Copies...) })
		}},
		{rule, "copies are not reported", func(b bench) {
			b.listing(func(m *provider.Machine) { m.Copies = nil })
		}},
		{rule, "the copies of what is gone are not reported", func(b bench) {
			b.bend(func(m *bent) {
				m.list = func(ctx context.Context, o provider.Owner) ([]provider.Machine, error) {
					all, err := m.Machines.List(ctx, o)
					return slices.DeleteFunc(all, func(one provider.Machine) bool { return one.State == provider.StateAbsent }), err
				}
			})
		}},
	}
}

// copiesDeleted deletes whatever carries the owner's tags.
func copiesDeleted(b bench) {
	b.bend(func(m *bent) {
		m.remove = func(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
			all, _ := b.p.List(ctx, provider.Owner{ID: ref.Owner.ID})
			for _, one := range all {
				for _, c := range one.Copies {
					b.p.Remove(c.Name)
				}
			}
			return m.Machines.Delete(ctx, ref)
		}
	})
}

func copyObserved(b bench) {
	b.bend(func(m *bent) {
		m.observe = func(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
			for _, s := range b.p.Sightings(ref.Name) {
				if s.Ref.Owner.ID == ref.Owner.ID && s.Ref.Name != ref.Name {
					return s.Machine, nil
				}
			}
			return m.Machines.Observe(ctx, ref)
		}
	})
}
