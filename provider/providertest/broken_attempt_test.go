// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"context"
	"fmt"

	"github.com/butlerdotdev/butler/provider"
)

func attemptBreakages() []breakage {
	return []breakage{
		{ruleRecord, "every plan is another", func(b bench) {
			n := 0
			b.planning(func(provider.MachineSpec, string) string { n++; return fmt.Sprintf("attempt %d of it", n) })
		}},
		{ruleRecord, "the record has user data", func(b bench) {
			b.planning(func(s provider.MachineSpec, record string) string { return record + s.UserData.Reveal() })
		}},
		{ruleRecord, "a record is not looked at", func(b bench) {
			b.bend(func(m *bent) {
				m.create = func(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
					s.Attempt = ""
					return m.Machines.Create(ctx, s)
				}
			})
		}},
	}
}

// planning changes every record. What Create is called with stays one of the platform's.
func (b bench) planning(change func(provider.MachineSpec, string) string) {
	b.connecting(func(live *provider.Platform) {
		inner := live.Plan
		live.Plan = func(ctx context.Context, s provider.MachineSpec, last provider.Attempt) (string, error) {
			record, err := inner(ctx, s, last)
			return change(s, record), err
		}
	})
	b.bend(func(m *bent) {
		m.create = func(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
			if s.Attempt != "no record" {
				s.Attempt = ""
			}
			return m.Machines.Create(ctx, s)
		}
	})
}
