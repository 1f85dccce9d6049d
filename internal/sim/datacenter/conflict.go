// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

import (
	"net/netip"
	"slices"

	"github.com/butlerdotdev/butler/internal/sim/network"
)

// followNetworkFaults has the network be as the fault plan says, until the datacenter closes:
// conflicting hosts come and go, and the router does.
func (d *Datacenter) followNetworkFaults() {
	present := map[netip.Addr]*network.Host{}
	faults := d.options.Faults
	for {
		hosts, cut := faults.ConflictingHosts(), faults.WithoutGateway()
		d.placeConflicts(present, hosts)
		d.confineAll()
		if !faults.Await(d.ctx, func() bool {
			return !slices.Equal(faults.ConflictingHosts(), hosts) || faults.WithoutGateway() != cut
		}) {
			return
		}
	}
}

// placeConflicts puts the wanted hosts on the network, and takes others off it. Nothing
// answers at their ports.
func (d *Datacenter) placeConflicts(present map[netip.Addr]*network.Host, wanted []netip.Addr) {
	for address, host := range present {
		if !slices.Contains(wanted, address) {
			host.Detach()
			delete(present, address)
		}
	}
	for _, address := range wanted {
		if present[address] != nil {
			continue
		}
		d.options.Log.Warn("a host that the platform does not know has an address", "address", address)
		host := d.options.Network.NewHost()
		host.Bind(address)
		host.Up()
		present[address] = host
	}
}

func (d *Datacenter) confineAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.machines {
		d.confine(&p.machine)
	}
}

// confine keeps a machine in its subnet if its gateway is not that of the subnet, or there is
// none. It is called under lock.
func (d *Datacenter) confine(m *Machine) {
	subnet, _, err := d.leases.get(m.ID, m.Network)
	if err != nil {
		return // it has lost its subnet
	}
	if subnet.routes(m.Address, m.Gateway) && !d.options.Faults.WithoutGateway() {
		m.Host.Confine(netip.Prefix{})
		return
	}
	m.Host.Confine(m.Address.Masked())
}
