// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"net/netip"
	"slices"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// Reasons of the Ready condition, besides those of the drivers.
const (
	reasonRunning    = "VMRunning"
	reasonCreating   = "VMCreating"
	reasonSettling   = "VMNotVisible"
	reasonNotRunning = "VMNotRunning"
	reasonIncomplete = "VMIncomplete"
	reasonBroken     = "VMBroken"
	reasonDeleting   = "VMDeleting"
	reasonDeleted    = "VMDeleted"
)

// describe copies what the platform reports into the status. What it does not report
// any more is kept: the address of a machine that restarts is still its own. The
// primary address stays as long as it is reported, in whatever order the platform
// lists them.
func describe(r *v1alpha1.MachineRequest, m provider.Machine) {
	s := &r.Status
	if m.ID != "" {
		s.ProviderID = m.ID
	}
	if m.NodeProviderID != "" {
		s.NodeProviderID = m.NodeProviderID
	}
	if m.MAC != "" {
		s.MACAddress = m.MAC
	}
	if len(m.Disks) > 0 {
		s.Disks = m.Disks
	}
	if m.State != provider.StateRunning || len(m.Addresses) == 0 {
		return
	}
	primary := m.Addresses[0]
	if known, err := netip.ParseAddr(s.IPAddress); err == nil && slices.Contains(m.Addresses, known) {
		primary = known
	}
	s.IPAddress, s.IPAddresses = primary.String(), []string{primary.String()}
	for _, a := range m.Addresses {
		if a != primary {
			s.IPAddresses = append(s.IPAddresses, a.String())
		}
	}
}
