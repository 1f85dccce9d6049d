// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

import (
	"cmp"
	"fmt"
	"net/netip"
)

// connect plugs the machine into its network and gives it the addresses that it boots with:
// those of its NoCloud disk, or what the network offers.
func (d *Datacenter) connect(m *Machine) error {
	subnet, _, err := d.leases.get(m.ID, m.Network)
	if err != nil {
		return err
	}
	m.Zone = cmp.Or(m.Spec.Zone, subnet.Zone)
	m.Host = d.options.Network.NewHost()
	if err := d.configure(m, d.bootInterface(m)); err != nil {
		m.Host.Detach()
		return err
	}
	return nil
}

// offer gives the machine what DHCP does: the address that the platform has assigned, the
// leased one, or a new lease; nothing where no server answers.
func (d *Datacenter) offer(m *Machine, s Subnet) error {
	switch {
	case m.Spec.Address.IsValid():
		return d.offerAssigned(m, s)
	case s.NoDHCP:
		return nil
	}
	return d.offerLease(m, s)
}

// offerLease goes round addresses that someone holds without a lease, as a careful DHCP
// server does.
func (d *Datacenter) offerLease(m *Machine, s Subnet) error {
	_, leased, err := d.leases.get(m.ID, m.Network)
	if err != nil {
		return err
	}
	if leased.IsValid() {
		return d.acquire(m, s, leased)
	}
	for address := range d.leases.free(s) {
		if d.acquire(m, s, address) == nil {
			return d.grant(m)
		}
	}
	return fmt.Errorf("no address of %v is free for network %q: %w", s.Prefix, m.Network, ErrExhausted)
}

// offerAssigned does not look whether a host that the platform does not know has the address.
func (d *Datacenter) offerAssigned(m *Machine, s Subnet) error {
	address := m.Spec.Address.Unmap()
	d.options.PoweredOn(m.Spec, address)
	if !s.usable(address) {
		return fmt.Errorf("%v is not the address of a machine in %v of network %q", address, s.Prefix, m.Network)
	}
	if holder, leased := d.leases.holder(address); leased && holder != m.ID {
		return fmt.Errorf("address %v belongs to machine %s", address, holder)
	}
	m.Host.Bind(address)
	m.Address, m.Gateway = netip.PrefixFrom(address, s.Prefix.Bits()), s.gateway()
	return d.grant(m)
}

func (d *Datacenter) acquire(m *Machine, s Subnet, address netip.Addr) error {
	if err := m.Host.Acquire(address); err != nil {
		return err
	}
	m.Address, m.Gateway = netip.PrefixFrom(address, s.Prefix.Bits()), s.gateway()
	d.options.PoweredOn(m.Spec, address)
	return nil
}

func (d *Datacenter) grant(m *Machine) error {
	return d.leases.grant(lease{ID: m.ID, Network: m.Network, Address: m.Address.Addr()})
}
