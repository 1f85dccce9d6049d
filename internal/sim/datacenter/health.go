// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

import (
	"context"
	"net/netip"
	"slices"
	"time"
)

// checkTimeout is how long a target may take to accept a connection.
const checkTimeout = time.Second

// checks are the health checks of one pool, from its creation until its removal. They are
// guarded by balancing's lock.
type checks struct {
	stop    context.CancelFunc
	soon    chan struct{} // has one element if something has changed
	results map[Target]*result
}

// result is what the checks of a target have shown.
type result struct {
	health Health
	good   bool // of the last check
	row    int  // how many in a row were like the last
}

// startChecks begins to check a pool, or continues with its present targets. It is called
// with lb held.
func (d *Datacenter) startChecks(p Pool) {
	c := d.checks[p.ID]
	if c == nil {
		ctx, stop := context.WithCancel(d.ctx)
		c = &checks{stop: stop, soon: make(chan struct{}, 1), results: map[Target]*result{}}
		d.checks[p.ID] = c
		d.checking.Go(func() { d.check(ctx, p.ID, c) })
	}
	known := c.results
	c.results = map[Target]*result{}
	for _, t := range p.Targets {
		if c.results[t] = known[t]; c.results[t] == nil {
			c.results[t] = &result{health: HealthInitial}
		}
	}
	c.wake()
}

func (c *checks) wake() {
	select {
	case c.soon <- struct{}{}:
	default:
	}
}

// checkSoon has all pools checked. It is called with lb held.
func (d *Datacenter) checkSoon() {
	for _, c := range d.checks {
		c.wake()
	}
}

func (c *checks) health(t Target) Health {
	if r := c.results[t]; r != nil {
		return r.health
	}
	return HealthInitial
}

// check checks the targets of a pool again and again while a load balancer uses it.
func (d *Datacenter) check(ctx context.Context, pool string, c *checks) {
	for ctx.Err() == nil {
		changed := d.options.Network.Changed()
		p, wait, used := d.toCheck(pool)
		if used {
			d.checkOnce(ctx, p, c)
		}
		if d.options.Profile.LoadBalancer > 0 {
			changed = nil
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-c.soon:
		case <-after(wait):
		}
	}
}

// after is time.After, except that 0 means never.
func after(d time.Duration) <-chan time.Time {
	if d == 0 {
		return nil
	}
	return time.After(d)
}

// toCheck returns a pool with the time until its next check; 0 means when something
// changes.
func (d *Datacenter) toCheck(pool string) (p Pool, wait time.Duration, used bool) {
	d.lb.Lock()
	defer d.lb.Unlock()
	p, _ = d.pools.get(pool)
	in, used := d.poolUse(pool)
	switch {
	case !used:
		return p, in, false
	case d.options.Profile.LoadBalancer > 0:
		return p, max(p.Check.Interval, time.Second), true
	}
	return p, 0, true
}

// checkOnce connects to each target once.
func (d *Datacenter) checkOnce(ctx context.Context, p Pool, c *checks) {
	probed := d.probed(p.ID)
	for _, t := range p.Targets {
		good := d.takes(t, probed) && d.accepts(ctx, p.Check, t)
		d.lb.Lock()
		if r := c.results[t]; r != nil && ctx.Err() == nil {
			r.add(good, p.Check)
		}
		d.lb.Unlock()
	}
}

// probed returns the addresses of load balancers that the checks of a pool are sent to.
func (d *Datacenter) probed(pool string) (out []netip.Addr) {
	d.lb.Lock()
	defer d.lb.Unlock()
	for _, b := range d.balancers.all() {
		if b.ProbesAddress && b.Address.IsValid() && b.uses(pool) {
			out = append(out, b.Address)
		}
	}
	return out
}

// takes reports whether a target takes packets to all of the addresses.
func (d *Datacenter) takes(t Target, addresses []netip.Addr) bool {
	at, ok := d.locate(t)
	return ok && !slices.ContainsFunc(addresses, func(a netip.Addr) bool { return !d.options.Network.HasAlias(at.at.Addr(), a) })
}

func (d *Datacenter) accepts(ctx context.Context, h HealthCheck, t Target) bool {
	at, ok := d.locate(t)
	if !ok {
		return false
	}
	port := h.Port
	if port == 0 {
		port = t.Port
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	conn, err := d.options.Network.Dial(ctx, "tcp", netip.AddrPortFrom(at.at.Addr(), port).String())
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// add counts one check.
func (r *result) add(good bool, h HealthCheck) {
	if r.row++; good != r.good {
		r.good, r.row = good, 1
	}
	switch {
	case good && r.row >= h.Healthy:
		r.health = HealthHealthy
	case !good && r.row >= h.Unhealthy:
		r.health = HealthUnhealthy
	}
}
