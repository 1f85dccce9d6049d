// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

import (
	"cmp"
	"slices"
	"time"
)

// shortDrain is how long targets are draining where load balancers take no time.
const shortDrain = time.Second

// Draining returns the targets that were taken out of a pool and still have connections, in
// the order of their end. A restart ends it.
func (d *Datacenter) Draining(pool string) (out []Target) {
	d.lb.Lock()
	defer d.lb.Unlock()
	ends := d.draining[pool]
	for t, end := range ends {
		if time.Until(end) <= 0 {
			delete(ends, t)
			continue
		}
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b Target) int {
		return cmp.Or(ends[a].Compare(ends[b]), cmp.Compare(a.Machine, b.Machine), a.Address.Compare(b.Address), cmp.Compare(a.Port, b.Port))
	})
	return out
}

// drain notes which targets a pool loses. Those of a pool that no load balancer uses have no
// connections. It is called with lb held.
func (d *Datacenter) drain(before, after Pool) {
	ends := d.draining[after.ID]
	if ends == nil {
		ends = map[Target]time.Time{}
		d.draining[after.ID] = ends
	}
	takes := after.Drain
	if d.options.Profile.LoadBalancer == 0 {
		takes = min(takes, shortDrain)
	}
	_, used := d.poolUse(after.ID)
	for _, t := range before.Targets {
		if used && takes > 0 && !slices.Contains(after.Targets, t) {
			ends[t] = time.Now().Add(takes)
		}
	}
	for _, t := range after.Targets {
		delete(ends, t)
	}
}
