// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// report returns a VM as a machine.
func (p *platform) report(v vm, ref provider.MachineRef) provider.Machine {
	m := provider.Machine{Ref: ref, ID: v.uuid, Addresses: p.addresses(v), Disks: disksOf(v), MAC: p.mac(v)}
	name := "VM " + v.name
	switch {
	case strings.HasPrefix(v.state, stateDelete):
		m.State, m.Message = provider.StateDeleting, name+" is being deleted"
	case v.power == powerOn && len(m.Addresses) > 0:
		m.State, m.NodeProviderID = provider.StateRunning, "nutanix://"+v.uuid
	case v.state == stateError && unpowered(v):
		m.State, m.Reason, m.Message = provider.StatePartial, unpoweredReason(v), name+" could not be powered on"+saying(v)
	case v.state == stateError:
		m.State, m.Message = provider.StateBroken, name+" is in an error state"+saying(v)
	case v.state != stateComplete:
		m.State, m.Message = provider.StatePending, name+" is being created or changed"
	case v.power == powerOn:
		m.State, m.Reason, m.Message = provider.StatePending, provider.ReasonNoAddress, name+" runs without an address"
	default:
		m.State, m.Message = provider.StateStopped, fmt.Sprintf("%s is off (%s)", name, v.power)
	}
	return m
}

// unpowered reports whether a VM exists that was to be powered on and is off.
func unpowered(v vm) bool { return v.wanted == powerOn && v.power == powerOff && len(v.disks) > 0 }

// unpoweredReason is why a VM could not be powered on.
func unpoweredReason(v vm) string {
	if shortage.MatchString(saying(v)) {
		return provider.ReasonCapacityExhausted
	}
	return provider.ReasonStartFailed
}

// primary returns the interface on the subnet of the ProviderConfig, else the first one.
func (p *platform) primary(v vm) nic {
	if i := slices.IndexFunc(v.nics, func(n nic) bool { return n.subnet == p.spec.SubnetUUID }); i >= 0 {
		return v.nics[i]
	}
	if len(v.nics) > 0 {
		return v.nics[0]
	}
	return nic{}
}

func (p *platform) mac(v vm) string { return strings.ToLower(p.primary(v).mac) }

// addresses returns those of the primary interface first.
func (p *platform) addresses(v vm) []netip.Addr {
	texts := slices.Clone(p.primary(v).addresses)
	for _, n := range v.nics {
		texts = append(texts, n.addresses...)
	}
	return provider.Addresses(texts...)
}

// disksOf returns the disks by their index on the SCSI bus. The guest of AHV sees that as the
// number of the target; the serial number that it sees is not in the API v3.
func disksOf(v vm) (all []v1alpha1.MachineDisk) {
	for _, d := range v.disks {
		if d.cdrom || d.bus != busSCSI {
			continue
		}
		name := fmt.Sprintf("disk-%d", d.index)
		if d.index == 0 {
			name = "root"
		}
		all = append(all, v1alpha1.MachineDisk{Name: name, LUN: new(d.index)})
	}
	slices.SortFunc(all, func(a, b v1alpha1.MachineDisk) int { return int(*a.LUN - *b.LUN) })
	return all
}
