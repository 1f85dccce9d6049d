// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package fault

import "slices"

// Tally is how often each fault of a plan has happened.
type Tally struct {
	Plan Plan `json:"plan"`
	// Times is by place in the plan. A fault that lasts counts whenever it
	// applies; a conflicting machine does not count.
	Times []int `json:"times"`
}

// Idle are the faults of the plan that have not happened to any call.
func (t Tally) Idle() (out []Fault) {
	for i, f := range t.Plan.Faults {
		if t.Times[i] == 0 {
			out = append(out, f)
		}
	}
	return out
}

// Tallies are those of all plans so far that have faults, the present one last.
func (c *Injector) Tallies() []Tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tallies()
}

// tallies is called under lock.
func (c *Injector) tallies() []Tally {
	all := slices.Clone(c.past)
	if len(c.plan.Faults) > 0 {
		all = append(all, Tally{c.plan, slices.Clone(c.used)})
	}
	return all
}
