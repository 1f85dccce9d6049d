// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

import (
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// Pool is the targets of a listener: a target group, a backend pool, a backend service.
type Pool struct {
	ID    string
	Check HealthCheck
	// PreserveClient keeps the client's address as the source of what targets get: a
	// target that connects to its own load balancer and is passed on to itself gets no
	// answer.
	PreserveClient bool
	// Drain is how long a target that is taken out keeps its connections. It gets no new
	// ones.
	Drain time.Duration
	// Targets are the machines and addresses that connections may be passed on to.
	Targets []Target
}

// Target is a machine, by its ID, or an address of any host, with the port that it serves.
type Target struct {
	Machine string
	Address netip.Addr // if Machine is empty
	Port    uint16
}

// HealthCheck is how the health of targets is found out: by a TCP connection.
type HealthCheck struct {
	Port uint16 // 0: the port of the target
	// Interval is the time between two checks. Where the profile takes no time for load
	// balancers it has no effect: targets are checked with every change of the network.
	Interval time.Duration
	// Healthy and Unhealthy are how many checks in a row change a target's health; 0
	// means one.
	Healthy, Unhealthy int
}

// Health is the health of a target.
type Health string

// The healths.
const (
	HealthUnused    Health = "unused"  // no active load balancer uses its pool
	HealthInitial   Health = "initial" // not checked often enough so far
	HealthHealthy   Health = "healthy"
	HealthUnhealthy Health = "unhealthy"
)

// PutPool creates a pool or replaces the one that has this ID. Targets that stay keep
// their health.
func (d *Datacenter) PutPool(p Pool) error {
	d.lb.Lock()
	defer d.lb.Unlock()
	before, _ := d.pools.get(p.ID)
	if err := d.pools.put(p.ID, p); err != nil {
		return fmt.Errorf("pool %s: %w", p.ID, err)
	}
	d.drain(before, p)
	d.startChecks(p)
	return nil
}

// Pool returns the pool of this ID.
func (d *Datacenter) Pool(id string) (Pool, bool) {
	d.lb.Lock()
	defer d.lb.Unlock()
	return d.pools.get(id)
}

// Pools returns all pools in the order of their IDs.
func (d *Datacenter) Pools() []Pool {
	d.lb.Lock()
	defer d.lb.Unlock()
	return d.pools.all()
}

// RemovePool removes a pool. It fails with ErrInUse while a listener passes connections
// on to it. One that does not exist is no error.
func (d *Datacenter) RemovePool(id string) error {
	d.lb.Lock()
	defer d.lb.Unlock()
	for _, b := range d.balancers.all() {
		if b.uses(id) {
			return fmt.Errorf("remove pool %s: load balancer %s uses it: %w", id, b.ID, ErrInUse)
		}
	}
	if err := d.pools.remove(id); err != nil {
		return err
	}
	delete(d.draining, id)
	if c := d.checks[id]; c != nil {
		c.stop()
		delete(d.checks, id)
	}
	return nil
}

func (b LoadBalancer) uses(pool string) bool {
	return slices.ContainsFunc(b.Listeners, func(l Listener) bool { return l.Pool == pool })
}

// Health returns the health of each target of a pool, in its order.
func (d *Datacenter) Health(pool string) (out []Health) {
	d.lb.Lock()
	defer d.lb.Unlock()
	p, _ := d.pools.get(pool)
	_, used := d.poolUse(pool)
	for _, t := range p.Targets {
		health := HealthUnused
		if used {
			health = d.checks[pool].health(t)
		}
		out = append(out, health)
	}
	return out
}

// poolUse reports whether an active load balancer uses the pool, and else when one will;
// 0 means that none does. It is called with lb held.
func (d *Datacenter) poolUse(pool string) (in time.Duration, used bool) {
	for _, b := range d.balancers.all() {
		if !b.uses(pool) {
			continue
		}
		left := d.untilActive(b)
		if left <= 0 {
			return 0, true
		}
		if in == 0 || left < in {
			in = left
		}
	}
	return in, false
}
