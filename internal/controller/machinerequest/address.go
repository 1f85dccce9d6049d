// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// addressed is what the platform reports about a machine, with the address of its request
// first. A machine that runs with other addresses alone is not up yet: the allocated address
// is the one that its cluster uses, and another one may belong to another machine.
func addressed(m provider.Machine, n *v1alpha1.MachineNetwork) provider.Machine {
	if n == nil || m.State != provider.StateRunning || len(m.Addresses) == 0 {
		return m
	}
	want, err := netip.ParsePrefix(n.Address)
	if err != nil {
		return m
	}
	at := slices.Index(m.Addresses, want.Addr())
	if at < 0 {
		m.State, m.Message = provider.StatePending, fmt.Sprintf("Virtual machine has the address %s, and %s was allocated for it: "+
			"use an image that takes its address from the platform; for Talos the guide of the provider names it", m.Addresses[0], want.Addr())
		m.Addresses = nil
		return m
	}
	m.Addresses = slices.Concat([]netip.Addr{want.Addr()}, m.Addresses[:at], m.Addresses[at+1:])
	return m
}
