// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
)

// LoadBalancerSpec is what a platform's API says about a load balancer. It answers at its
// address and at its name; at least one of them is required.
type LoadBalancerSpec struct {
	ID   string
	Name string // DNS name; empty: none
	// Subnet is where its address is leased. Static is the ID of a static address that it
	// has instead. Both empty: it has a name only.
	Subnet, Static string
	// Passthrough keeps the load balancer's address as the destination of packets: only
	// targets that have it as an alias take them.
	Passthrough bool
	Listeners   []Listener
}

// Listener passes connections to a port on to the healthy targets of a pool.
type Listener struct {
	Port uint16
	Pool string // ID
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
	stops     map[string][]func() // end the listeners, by load balancer
	checks    map[string]*checks  // by pool
	checking  sync.WaitGroup
}

func (d *Datacenter) openBalancing() (err error) {
	d.stops, d.checks = map[string][]func(){}, map[string]*checks{}
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

// PutLoadBalancer creates a load balancer, or replaces the listeners of the one that has
// this ID; the rest of it cannot be changed. The pools of its listeners must exist.
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
	b.Listeners = slices.Clone(s.Listeners)
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

// listen replaces the listeners of a load balancer on the network. It is called with lb
// held.
func (d *Datacenter) listen(b LoadBalancer) error {
	d.unlisten(b.ID)
	for _, host := range b.hosts() {
		for _, l := range b.Listeners {
			at := net.JoinHostPort(host, strconv.Itoa(int(l.Port)))
			targets := func() []netip.AddrPort { return d.healthy(b.ID, l.Pool) }
			stop, err := d.options.Network.Balance(at, targets, b.Passthrough)
			if err != nil {
				d.unlisten(b.ID)
				return err
			}
			d.stops[b.ID] = append(d.stops[b.ID], stop)
		}
	}
	return nil
}

func (d *Datacenter) unlisten(id string) {
	for _, stop := range d.stops[id] {
		stop()
	}
	delete(d.stops, id)
}

// hosts are what a load balancer answers at. Passthrough is to an address only.
func (b LoadBalancer) hosts() (out []string) {
	if b.Name != "" && !b.Passthrough {
		out = append(out, b.Name)
	}
	if b.Address.IsValid() {
		out = append(out, b.Address.String())
	}
	return out
}
