// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

import (
	"net/netip"
	"slices"

	"github.com/butlerdotdev/butler/internal/sim/network"
)

// followConflicts puts the conflicting hosts of the fault plan on the network, and takes
// them off it, until the datacenter closes. Nothing answers at their ports.
func (d *Datacenter) followConflicts() {
	present := map[netip.Addr]*network.Host{}
	faults := d.options.Faults
	for {
		wanted := faults.ConflictingHosts()
		d.placeConflicts(present, wanted)
		if !faults.Await(d.ctx, func() bool { return !slices.Equal(faults.ConflictingHosts(), wanted) }) {
			return
		}
	}
}

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
