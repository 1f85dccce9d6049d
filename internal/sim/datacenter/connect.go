// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

import (
	"cmp"
	"fmt"
	"net/netip"
)

// connect holds the machine's address on the network: a fixed one, the leased one, or
// a new lease. That goes round addresses that someone holds without one, as a careful
// DHCP server does.
func (d *Datacenter) connect(m *Machine) error {
	subnet, leased, err := d.leases.get(m.ID, m.Network)
	if err != nil {
		return err
	}
	m.Gateway, m.Zone = subnet.gateway(), cmp.Or(m.Spec.Zone, subnet.Zone)
	if m.Spec.Address.IsValid() {
		return d.connectFixed(m, subnet)
	}
	if leased.IsValid() {
		return d.reserve(m, subnet, leased)
	}
	for address := range d.leases.free(subnet) {
		if d.reserve(m, subnet, address) == nil {
			return d.grant(m)
		}
	}
	return fmt.Errorf("no address of %v is free for network %q: %w", subnet.Prefix, m.Network, ErrExhausted)
}

func (d *Datacenter) connectFixed(m *Machine, s Subnet) error {
	address := m.Spec.Address.Unmap()
	d.options.PoweredOn(m.Spec, address)
	if !s.usable(address) {
		return fmt.Errorf("%v is not the address of a machine in %v of network %q", address, s.Prefix, m.Network)
	}
	if holder, leased := d.leases.holder(address); leased && holder != m.ID {
		return fmt.Errorf("address %v belongs to machine %s", address, holder)
	}
	if err := d.reserve(m, s, address); err != nil {
		return err
	}
	return d.grant(m)
}

func (d *Datacenter) reserve(m *Machine, s Subnet, address netip.Addr) (err error) {
	if m.Host, err = d.options.Network.Reserve(address); err != nil {
		return err
	}
	m.Address = netip.PrefixFrom(address, s.Prefix.Bits())
	d.options.PoweredOn(m.Spec, address)
	return nil
}

func (d *Datacenter) grant(m *Machine) error {
	err := d.leases.grant(lease{ID: m.ID, Network: m.Network, Address: m.Address.Addr()})
	if err != nil {
		m.Host.Detach()
	}
	return err
}
