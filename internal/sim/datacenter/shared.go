// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

import (
	"net/netip"
	"slices"
)

// Hold records that the guest has put a further address, such as the one that control
// planes share, on its interface, or has taken it off. Addressed then delivers the
// machine's ID.
func (m Machine) Hold(address netip.Addr, held bool) {
	if m.hold != nil {
		m.hold(address, held)
	}
}

// Others are the addresses that the machine has besides Address.
func (m Machine) Others() (all []netip.Addr) {
	for _, p := range m.Further {
		all = append(all, p.Addr())
	}
	return append(all, m.Shared...)
}

func (d *Datacenter) hold(id string, address netip.Addr, held bool) {
	if !d.record(id, address, held) {
		return
	}
	go d.announceLater(id)
}

// announceLater delivers the ID of a machine whose addresses have changed.
func (d *Datacenter) announceLater(id string) { d.announce(d.ctx, id) }

// record reports whether the machine is on and its addresses have changed.
func (d *Datacenter) record(id string, address netip.Addr, held bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, on := d.machines[id]
	if !on || slices.Contains(p.machine.Shared, address) == held {
		return false
	}
	shared := slices.DeleteFunc(slices.Clone(p.machine.Shared), func(a netip.Addr) bool { return a == address })
	if held {
		shared = append(shared, address)
	}
	p.machine.Shared = shared
	return true
}
