// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

import (
	"errors"
	"fmt"
	"iter"
	"net/netip"
)

// Subnet is where the addresses of a network's machines come from.
type Subnet struct {
	Prefix   netip.Prefix
	Zone     string     // of the machines in it; empty on platforms without zones
	Gateway  netip.Addr // zero: the first address of Prefix
	Reserved []Range    // never leased: VIP, load balancer pool, …
	// NoDHCP is a subnet without a DHCP server: guests have the address that they are
	// configured with, or that the platform has assigned.
	NoDHCP bool
	// Private addresses do not answer the workstation: they are reached from other
	// machines and from load balancers only.
	Private bool
	// Egress is the public address that machines of the subnet without one of their own
	// appear with outside: that of a NAT gateway. Zero: their own address.
	Egress netip.Addr
}

// Range is the addresses from From to To, both included. A zero To means From alone.
type Range struct{ From, To netip.Addr }

// countLimit is where counting free addresses ends: IPv6 subnets have too many.
const countLimit = 1 << 16

// AddSubnet adds a subnet under an ID that machines, addresses and load balancers name as
// their network, or replaces the one that has it. It is not kept over restarts: leases in
// it are.
func (d *Datacenter) AddSubnet(id string, s Subnet) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.leases.addSubnet(id, s); err != nil {
		return err
	}
	return d.declare(s)
}

// RemoveSubnet removes a subnet that was added. It fails with ErrInUse while an address of
// it is leased. One that does not exist is no error.
func (d *Datacenter) RemoveSubnet(id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, held := range d.leases.leases.byID {
		if held.Network == id {
			return fmt.Errorf("remove subnet %s: %v is leased to %s: %w", id, held.Address, held.ID, ErrInUse)
		}
	}
	delete(d.leases.subnets, id)
	return nil
}

// declareSubnets declares the subnets that the datacenter is opened with.
func (d *Datacenter) declareSubnets() (err error) {
	for _, s := range d.leases.subnets {
		err = errors.Join(err, d.declare(s))
	}
	return err
}

// declare has the network know which addresses are private.
func (d *Datacenter) declare(s Subnet) error {
	if !s.Private {
		return nil
	}
	return d.options.Network.Private(s.Prefix)
}

// FreeAddresses returns how many addresses of a subnet can still be leased, at most 65536.
func (d *Datacenter) FreeAddresses(id string) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, known := d.leases.subnets[id]
	if !known {
		return 0, fmt.Errorf("subnet %q: %w", id, ErrNotFound)
	}
	count := 0
	for range d.leases.free(s) {
		if count++; count == countLimit {
			break
		}
	}
	return count, nil
}

// firstLease is the place of the first leased address in a subnet that has room:
// people keep the lowest ones for routers and the like.
const firstLease = 10

func (r Range) contains(a netip.Addr) bool {
	to := r.To
	if !to.IsValid() {
		to = r.From
	}
	return !a.Less(r.From) && !to.Less(a)
}

func (s Subnet) check(network string) error {
	switch {
	case !s.Prefix.IsValid():
		return fmt.Errorf("network %q has no valid subnet", network)
	case s.Gateway.IsValid() && !s.Prefix.Contains(s.Gateway):
		return fmt.Errorf("network %q: gateway %v is not in %v", network, s.Gateway, s.Prefix)
	}
	for _, r := range s.Reserved {
		if !r.From.IsValid() || r.To.IsValid() && r.To.Less(r.From) {
			return fmt.Errorf("network %q: %v to %v is not a range of addresses", network, r.From, r.To)
		}
	}
	return nil
}

func (s Subnet) gateway() netip.Addr {
	if s.Gateway.IsValid() {
		return s.Gateway
	}
	return s.Prefix.Masked().Addr().Next()
}

// usable says whether a machine may have the address at all.
func (s Subnet) usable(a netip.Addr) bool {
	if !s.Prefix.Contains(a) || a == s.gateway() || a == s.Prefix.Masked().Addr() {
		return false
	}
	return !a.Is4() || s.Prefix.Contains(a.Next()) // broadcast
}

// leasable says whether a machine may have the address without asking for it.
func (s Subnet) leasable(a netip.Addr) bool {
	if !s.usable(a) {
		return false
	}
	for _, r := range s.Reserved {
		if r.contains(a) {
			return false
		}
	}
	return true
}

// start is the first address to try.
func (s Subnet) start() netip.Addr {
	a := s.Prefix.Masked().Addr()
	if a.BitLen()-s.Prefix.Bits() < 5 {
		return a
	}
	for range firstLease {
		a = a.Next()
	}
	return a
}

// from yields each leasable address once, beginning with first and going round.
func (s Subnet) from(first netip.Addr) iter.Seq[netip.Addr] {
	return func(yield func(netip.Addr) bool) {
		if !s.Prefix.Contains(first) {
			first = s.start()
		}
		for a := first; ; {
			if s.leasable(a) && !yield(a) {
				return
			}
			if a = a.Next(); !s.Prefix.Contains(a) {
				a = s.Prefix.Masked().Addr()
			}
			if a == first {
				return
			}
		}
	}
}
