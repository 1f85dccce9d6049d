// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// LoadBalancerSpec is what a platform's API says about a load balancer. It answers at its
// address and at its name; at least one of them is required.
type LoadBalancerSpec struct {
	ID   string
	Name string // DNS name; empty: none
	// Subnet is where its address is leased. Static is the ID of a static address that it
	// has instead, and Fixed an address that the platform itself keeps from others. All
	// empty: it has a name only.
	Subnet, Static string
	Fixed          netip.Addr
	// Passthrough keeps the load balancer's address as the destination of packets: a target
	// that does not have it as an alias drops them. It implies Silent.
	Passthrough bool
	// ProbesAddress sends health checks to the load balancer's address too, so that a target
	// without it is unhealthy. Otherwise they are sent to the address of the target.
	ProbesAddress bool
	// Silent load balancers accept no connections themselves: without a target they are lost,
	// not refused.
	Silent bool
	// Internal load balancers are reached from inside the network only.
	Internal bool
	// FailOpen passes connections on to all targets while none is healthy, instead of
	// refusing them.
	FailOpen bool
	// Zones are those that it works in; empty: all. Targets in others are not used.
	Zones []string
	// ZoneBound passes connections that arrive in a zone on to targets in that zone
	// only: cross-zone load balancing is off. A zone without a target that could be
	// used gets no connections.
	ZoneBound bool
	Listeners []Listener
}

// LoadBalancer is a load balancer that exists.
type LoadBalancer struct {
	LoadBalancerSpec
	Address netip.Addr // zero: none
	Created time.Time
	// Active is false until the profile's time has passed since its creation: then it
	// answers, and the health of its targets is checked.
	Active bool `json:"-"`
}

// balancing are the load balancers and their pools.
type balancing struct {
	lb        sync.Mutex // never held while the datacenter's lock is taken
	balancers *store[LoadBalancer]
	pools     *store[Pool]
	stops     map[string]map[string]func()    // end the listeners, by load balancer and endpoint
	checks    map[string]*checks              // by pool
	draining  map[string]map[Target]time.Time // by pool, with their end
	arrivals  map[string]int                  // connections to zones, by load balancer
	checking  sync.WaitGroup
}

func (d *Datacenter) openBalancing() (err error) {
	d.stops, d.checks, d.arrivals = map[string]map[string]func(){}, map[string]*checks{}, map[string]int{}
	d.draining = map[string]map[Target]time.Time{}
	if d.balancers, err = openStore[LoadBalancer](filepath.Join(d.options.Dir, "loadbalancers")); err != nil {
		return err
	}
	if d.pools, err = openStore[Pool](filepath.Join(d.options.Dir, "pools")); err != nil {
		return err
	}
	for _, p := range d.pools.all() {
		d.startChecks(p)
	}
	for _, b := range d.balancers.all() {
		err = errors.Join(err, d.listen(b))
	}
	return err
}

// PutLoadBalancer creates a load balancer, or replaces listeners, zones and ZoneBound of the
// one that has this ID; the rest of it cannot be changed. The pools of its listeners must exist.
func (d *Datacenter) PutLoadBalancer(s LoadBalancerSpec) (LoadBalancer, error) {
	address, err := d.endpoint(s)
	if err != nil {
		return LoadBalancer{}, fmt.Errorf("create load balancer %s: %w", s.ID, err)
	}
	d.lb.Lock()
	defer d.lb.Unlock()
	for _, l := range s.Listeners {
		if _, known := d.pools.get(l.Pool); !known {
			return LoadBalancer{}, fmt.Errorf("create load balancer %s: pool %q: %w", s.ID, l.Pool, ErrNotFound)
		}
	}
	b, known := d.balancers.get(s.ID)
	if !known {
		b = LoadBalancer{LoadBalancerSpec: s, Address: address, Created: time.Now()}
	}
	b.Listeners, b.Zones, b.ZoneBound = slices.Clone(s.Listeners), slices.Clone(s.Zones), s.ZoneBound
	if err := errors.Join(d.listen(b), d.balancers.put(b.ID, b)); err != nil {
		return LoadBalancer{}, fmt.Errorf("create load balancer %s: %w", s.ID, err)
	}
	d.checkSoon()
	return d.seen(b), nil
}

// endpoint returns the address of a load balancer.
func (d *Datacenter) endpoint(s LoadBalancerSpec) (netip.Addr, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case s.Fixed.IsValid():
		return s.Fixed, nil
	case s.Static != "":
		a, known := d.statics.get(s.Static)
		if !known {
			return netip.Addr{}, fmt.Errorf("address %s: %w", s.Static, ErrNotFound)
		}
		if a.Machine != "" {
			return netip.Addr{}, fmt.Errorf("address %s: %w", s.Static, ErrInUse)
		}
		return a.IP, nil
	case s.Subnet != "":
		return d.lease("loadbalancer."+s.ID, s.Subnet)
	case s.Name == "":
		return netip.Addr{}, errors.New("it has neither a name nor an address")
	}
	return netip.Addr{}, nil
}

// LoadBalancer returns the load balancer of this ID.
func (d *Datacenter) LoadBalancer(id string) (LoadBalancer, bool) {
	d.lb.Lock()
	defer d.lb.Unlock()
	b, known := d.balancers.get(id)
	return d.seen(b), known
}

// LoadBalancers returns all load balancers in the order of their IDs.
func (d *Datacenter) LoadBalancers() (out []LoadBalancer) {
	d.lb.Lock()
	defer d.lb.Unlock()
	for _, b := range d.balancers.all() {
		out = append(out, d.seen(b))
	}
	return out
}

// RemoveLoadBalancer ends a load balancer and releases its leased address. One that does
// not exist is no error.
func (d *Datacenter) RemoveLoadBalancer(id string) error {
	if err := d.dropBalancer(id); err != nil {
		return fmt.Errorf("remove load balancer %s: %w", id, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.leases.release("loadbalancer." + id)
}

func (d *Datacenter) dropBalancer(id string) error {
	d.lb.Lock()
	defer d.lb.Unlock()
	if err := d.balancers.remove(id); err != nil {
		return err
	}
	d.unlisten(id)
	d.checkSoon()
	return nil
}

// seen is a load balancer with its present state.
func (d *Datacenter) seen(b LoadBalancer) LoadBalancer {
	b.Active = !b.Created.IsZero() && d.untilActive(b) <= 0
	return b
}

func (d *Datacenter) untilActive(b LoadBalancer) time.Duration {
	return time.Until(b.Created.Add(d.options.Profile.LoadBalancer))
}

// balanced reports whether a load balancer has the static address.
func (d *Datacenter) balanced(static string) bool {
	d.lb.Lock()
	defer d.lb.Unlock()
	return slices.ContainsFunc(d.balancers.all(), func(b LoadBalancer) bool { return b.Static == static })
}
