// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"net/netip"

	"github.com/butlerdotdev/butler/provider"
)

// requestedAddress demands that a machine never has another address than the requested one. A
// driver that cannot give it to the machine has to refuse it.
func requestedAddress(t *trial) {
	if t.suite.Network == nil {
		t.invalid("an address", func(_ *provider.Config, s *provider.MachineSpec) { s.Network = documented() })
		return
	}
	t.invalid("an address beside network data", func(_ *provider.Config, s *provider.MachineSpec) {
		s.Network, s.NetworkData = t.network(), "version: 2"
	})
	s := t.spec(func(s *provider.MachineSpec) { s.Network = t.network() })
	t.create(s)
	var last provider.Machine
	if !t.poll(func() bool { last = t.observe(s.MachineRef); return t.hasOnly(last, s.Network.Address.Addr()) }) {
		t.errorf("the machine is %s (%s) after %s", last.State, last.Message, t.suite.Patience)
	}
}

// network is a copy of the suite's.
func (t *trial) network() *provider.Network {
	n := *t.suite.Network
	return &n
}

// documented is a network that no platform has.
func documented() *provider.Network {
	return &provider.Network{Address: netip.MustParsePrefix("198.51.100.7/24"), Gateway: netip.MustParseAddr("198.51.100.1")}
}

// hasOnly reports whether a machine runs with an address; any other one is a failure.
func (t *trial) hasOnly(m provider.Machine, want netip.Addr) bool {
	for _, a := range m.Addresses {
		if a != want {
			t.fatalf("the machine is %s with address %s, and %s was requested", m.State, a, want)
		}
	}
	t.mustProceed(m)
	return m.State == provider.StateRunning
}
