// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

import (
	"fmt"
	"net/netip"
	"path/filepath"
)

// StaticAddress is an address that is kept until it is released, in use or not. What is
// sent to it reaches the machine that it is associated with, which does not know it.
type StaticAddress struct {
	ID      string
	Subnet  string // where it was allocated
	IP      netip.Addr
	Machine string // ID of the machine that it is associated with; empty: none
}

// statics are the static addresses. They are guarded by the datacenter's lock.
type statics struct {
	*store[StaticAddress]
	forget map[string]func() // ends the route of an address to its machine
}

func (d *Datacenter) openStatics() error {
	kept, err := openStore[StaticAddress](filepath.Join(d.options.Dir, "addresses"))
	if err != nil {
		return err
	}
	d.statics = &statics{store: kept, forget: map[string]func(){}}
	for _, a := range kept.all() {
		d.lead(a)
	}
	return nil
}

// Allocate allocates an address of a subnet. The same ID gets the same address.
func (d *Datacenter) Allocate(id, subnet string) (StaticAddress, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if a, known := d.statics.get(id); known {
		return a, nil
	}
	ip, err := d.lease("address."+id, subnet)
	if err != nil {
		return StaticAddress{}, fmt.Errorf("allocate address %s: %w", id, err)
	}
	a := StaticAddress{ID: id, Subnet: subnet, IP: ip}
	return a, d.statics.put(id, a)
}

// Lease returns the address that a machine will have in a subnet, on or off, until it is
// removed.
func (d *Datacenter) Lease(machine, subnet string) (netip.Addr, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lease(machine, subnet)
}

// StaticAddress returns an allocated address.
func (d *Datacenter) StaticAddress(id string) (StaticAddress, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.statics.get(id)
}

// StaticAddresses returns all allocated addresses in the order of their IDs.
func (d *Datacenter) StaticAddresses() []StaticAddress {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.statics.all()
}

// Associate routes an address to a machine, whether or not that is on; an empty machine
// ends it. It fails with ErrInUse while the address belongs to another machine or to a load
// balancer. It ends by itself when the machine is removed.
func (d *Datacenter) Associate(id, machine string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, known := d.statics.get(id)
	switch {
	case !known:
		return fmt.Errorf("associate address %s: %w", id, ErrNotFound)
	case machine != "" && a.Machine != "" && a.Machine != machine, d.balanced(id):
		return fmt.Errorf("associate address %s: %w", id, ErrInUse)
	}
	return d.associate(a, machine)
}

// Public returns the static addresses that are associated with the machine now.
func (m Machine) Public() []netip.Addr {
	if m.public == nil {
		return nil
	}
	return m.public()
}

func (d *Datacenter) publicOf(machine string) (out []netip.Addr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.statics.all() {
		if a.Machine == machine {
			out = append(out, a.IP)
		}
	}
	return out
}

// associate is called under lock.
func (d *Datacenter) associate(a StaticAddress, machine string) error {
	a.Machine = machine
	if err := d.statics.put(a.ID, a); err != nil {
		return err
	}
	d.lead(a)
	return nil
}

// dissociateAll ends the associations of a machine. It is called under lock.
func (d *Datacenter) dissociateAll(machine string) error {
	for _, a := range d.statics.all() {
		if a.Machine != machine {
			continue
		}
		if err := d.associate(a, ""); err != nil {
			return err
		}
	}
	return nil
}

// Release gives an address back. It fails with ErrInUse while the address is in use.
// One that does not exist is no error.
func (d *Datacenter) Release(id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if a, _ := d.statics.get(id); a.Machine != "" || d.balanced(id) {
		return fmt.Errorf("release address %s: %w", id, ErrInUse)
	}
	if err := d.statics.remove(id); err != nil {
		return err
	}
	return d.leases.release("address." + id)
}

// lead brings the network in line with an association. It is called under lock.
func (d *Datacenter) lead(a StaticAddress) {
	if end := d.statics.forget[a.ID]; end != nil {
		end()
		delete(d.statics.forget, a.ID)
	}
	if a.Machine == "" {
		return
	}
	d.statics.forget[a.ID] = d.options.Network.Name(a.IP.String(), func() []netip.Addr {
		if m, on := d.Running(a.Machine); on && m.Address.IsValid() {
			return []netip.Addr{m.Address.Addr()}
		}
		return nil
	})
}

// lease returns the address that the ID has in a subnet, or leases one that no host has.
// It is called under lock.
func (d *Datacenter) lease(id, subnet string) (netip.Addr, error) {
	s, leased, err := d.leases.get(id, subnet)
	if err != nil || leased.IsValid() {
		return leased, err
	}
	for address := range d.leases.free(s) {
		host, err := d.options.Network.Reserve(address)
		if err != nil {
			continue
		}
		host.Detach()
		return address, d.leases.grant(lease{ID: id, Network: subnet, Address: address})
	}
	return netip.Addr{}, fmt.Errorf("subnet %q: %w", subnet, ErrExhausted)
}
