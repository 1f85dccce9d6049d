// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"fmt"
	"net/netip"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// report returns the state of an instance.
func (p *platform) report(i *computepb.Instance, ref provider.MachineRef) provider.Machine {
	zone := lastOf(i.GetZone())
	m := provider.Machine{Ref: ref, ID: p.path(zone, i.GetName()), State: provider.StatePending}
	name := "instance " + i.GetName()
	if provisioning(i) {
		return provider.Machine{Ref: ref, State: provider.StatePartial, Message: fmt.Sprintf("%s waits for its resources: %s in %s", name, lastOf(i.GetMachineType()), zone)}
	}
	switch i.GetStatus() {
	case "RUNNING":
		m.Addresses, m.Disks = addresses(i), disks(i)
		m.NodeProviderID = fmt.Sprintf("gce://%s/%s/%s", p.spec.ProjectID, zone, i.GetName())
		m.State = provider.StateRunning
		if len(m.Addresses) == 0 {
			m.State, m.Reason, m.Message = provider.StatePending, provider.ReasonNoAddress, name+" runs without an address"
		}
	case "STOPPING", "PENDING_STOP", "SUSPENDING", "DEPROVISIONING":
		m.Message = name + " is being stopped or deleted" + because(i)
	case "TERMINATED", "STOPPED":
		m.State, m.Message = provider.StateStopped, name+" is stopped"+because(i)
	case "SUSPENDED":
		m.State, m.Message = provider.StateStopped, name+" is suspended"
	case "REPAIRING":
		m.Message = name + " is being repaired by Google" + because(i)
	default:
		m.Message = fmt.Sprintf("%s (%s in %s) is starting", name, lastOf(i.GetMachineType()), zone)
	}
	return m
}

// provisioning reports whether an instance has no resources yet: without them it vanishes
// again. One that was stopped and is started has had some.
func provisioning(i *computepb.Instance) bool {
	return i.GetStatus() == "PROVISIONING" && i.GetLastStartTimestamp() == "" && i.GetLastStopTimestamp() == ""
}

// because is what the platform says about the state of an instance.
func because(i *computepb.Instance) string {
	if i.GetStatusMessage() == "" {
		return ""
	}
	return ": " + i.GetStatusMessage()
}

// addresses returns the private address first, then the public one, then that of IPv6.
func addresses(i *computepb.Instance) []netip.Addr {
	var texts []string
	for n, nic := range i.GetNetworkInterfaces() {
		if n > 0 {
			break
		}
		texts = append(texts, nic.GetNetworkIP())
		for _, c := range nic.GetAccessConfigs() {
			texts = append(texts, c.GetNatIP())
		}
		texts = append(texts, nic.GetIpv6Address())
	}
	return provider.Addresses(texts...)
}

// disks returns the device names under which the guest sees its disks. Those on NVMe do
// not show them.
func disks(i *computepb.Instance) (all []v1alpha1.MachineDisk) {
	for _, d := range i.GetDisks() {
		if d.GetInterface() == computepb.AttachedDisk_NVME.String() || d.GetType() == computepb.AttachedDisk_SCRATCH.String() {
			return nil
		}
		all = append(all, v1alpha1.MachineDisk{Name: d.GetDeviceName(), Serial: d.GetDeviceName()})
	}
	return all
}
