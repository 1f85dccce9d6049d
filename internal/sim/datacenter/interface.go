// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

import (
	"errors"
	"net/netip"
	"reflect"
	"slices"

	"github.com/butlerdotdev/butler/internal/sim/cloudinit"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// bootInterface is how the guest configures its interface before it has a configuration of
// its own. What it cannot read it ignores, and asks for a lease.
func (d *Datacenter) bootInterface(m *Machine) cloudinit.Interface {
	read, err := cloudinit.Read(m.NetworkData, cloudinit.Guest{MAC: m.MAC, Image: m.Image})
	if err != nil {
		d.options.Log.Warn("guest ignores its network data", "machine", m.Name, "error", err)
	}
	m.Platform = read
	if read == nil {
		return cloudinit.Interface{DHCP: true}
	}
	return *read
}

// Configure replaces the configuration of the guest's interface, and returns the machine with
// the addresses that it has then. Addressed delivers its ID if they are others than before.
func (m Machine) Configure(i cloudinit.Interface) (Machine, error) {
	if m.configured == nil {
		return m, nil
	}
	return m.configured(i)
}

var errOff = errors.New("the machine is off")

func (d *Datacenter) reconfigure(id string, host *network.Host, i cloudinit.Interface) (Machine, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, on := d.machines[id]
	if !on || p.machine.Host != host {
		return Machine{}, errOff
	}
	if reflect.DeepEqual(p.machine.iface, i) {
		return p.view(), nil
	}
	before := p.machine.Address
	if err := d.configure(&p.machine, i); err != nil {
		return p.view(), err
	}
	p.showAddress()
	if p.machine.Address != before {
		go d.announceLater(id)
	}
	return p.view(), nil
}

// configure gives the machine the addresses of an interface. It is called under lock.
func (d *Datacenter) configure(m *Machine, i cloudinit.Interface) error {
	subnet, _, err := d.leases.get(m.ID, m.Network)
	if err != nil {
		return err
	}
	m.iface, m.Address, m.Gateway, m.Further = i, netip.Prefix{}, netip.Addr{}, nil
	m.Host.Bind()
	defer d.confine(m)
	switch {
	case len(i.Addresses) > 0:
		d.setStatic(m, subnet)
	case i.DHCP:
		return d.offer(m, subnet)
	}
	return nil
}

// setStatic gives the machine the addresses that its guest has decided on, also those of
// others. Nothing reaches one that is not of the subnet.
func (d *Datacenter) setStatic(m *Machine, s Subnet) {
	var reached []netip.Addr
	for _, p := range slices.Backward(m.iface.Addresses) {
		d.options.PoweredOn(m.Spec, p.Addr())
		if s.Prefix.Contains(p.Addr()) {
			reached = slices.Insert(reached, 0, p.Addr())
		}
	}
	m.Address, m.Gateway, m.Further = m.iface.Addresses[0], m.iface.Gateway, slices.Clone(m.iface.Addresses[1:])
	m.Host.Bind(reached...)
}

// routes reports whether a machine with this address gets out of the subnet by a gateway. Of
// an IPv6 network every router has a link-local address.
func (s Subnet) routes(address netip.Prefix, gateway netip.Addr) bool {
	return gateway.Is6() && gateway.IsLinkLocalUnicast() || address.Contains(gateway) && gateway == s.gateway()
}

// Stranded reports whether the machine does not get out of its subnet: its gateway is wrong,
// or not there.
func (m Machine) Stranded() bool { return m.Host != nil && m.Host.IsConfined() }
