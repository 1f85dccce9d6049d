// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"context"
	"slices"

	"github.com/butlerdotdev/butler/provider"
)

// changeBreakages break what concerns pushed changes and adoption.
func changeBreakages() []breakage {
	return []breakage{
		{"changes are pushed", "only a machine that exists is pushed", func(b bench) {
			b.filtering(func(ref provider.MachineRef) bool { return len(b.p.Sightings(ref.Name)) > 0 })
		}},
		{"changes are pushed", "nothing is pushed", func(b bench) {
			b.filtering(func(provider.MachineRef) bool { return false })
		}},
		{"changes are pushed", "the channel stays open", func(b bench) {
			b.connecting(func(live *provider.Platform) {
				live.Changes = neverClosing(live.Changes)
			})
		}},
		{"adopt", "any ID is adopted", func(b bench) {
			b.adopting(func(ref provider.MachineRef, _ string) (provider.MachineRef, string) {
				return ref, b.idOf(ref.Name)
			})
		}},
		{"adopt", "the owner stays another", func(b bench) {
			b.adopting(func(ref provider.MachineRef, id string) (provider.MachineRef, string) {
				ref.Owner.ID = "of no request"
				return ref, id
			})
		}},
	}
}

// filtering pushes only what is kept.
func (b bench) filtering(keep func(provider.MachineRef) bool) {
	b.connecting(func(live *provider.Platform) {
		inner := live.Changes
		live.Changes = func(ctx context.Context) <-chan provider.MachineRef {
			out := make(chan provider.MachineRef)
			go func() {
				defer close(out)
				for ref := range inner(ctx) {
					if !keep(ref) {
						continue
					}
					select {
					case out <- ref:
					case <-ctx.Done():
					}
				}
			}()
			return out
		}
	})
}

// adopting changes what every Adopt is asked for.
func (b bench) adopting(change func(provider.MachineRef, string) (provider.MachineRef, string)) {
	b.connecting(func(live *provider.Platform) {
		inner := live.Adopt
		live.Adopt = func(ctx context.Context, ref provider.MachineRef, id string) error {
			ref, id = change(ref, id)
			return inner(ctx, ref, id)
		}
	})
}

// idOf is the platform's ID of the machine of that name.
func (b bench) idOf(name string) string {
	all := b.p.Machines()
	if i := slices.IndexFunc(all, func(m provider.Machine) bool { return m.Ref.Name == name }); i >= 0 {
		return all[i].ID
	}
	return ""
}

// neverClosing leaves the channel open when its context ends.
func neverClosing(changes func(context.Context) <-chan provider.MachineRef) func(context.Context) <-chan provider.MachineRef {
	return func(ctx context.Context) <-chan provider.MachineRef {
		out := make(chan provider.MachineRef)
		go func() {
			for ref := range changes(ctx) {
				select {
				case out <- ref:
				case <-ctx.Done():
				}
			}
		}()
		return out
	}
}
