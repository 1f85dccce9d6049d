// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// annotationOverQuota has the reason for which Harvester switched a machine off.
const annotationOverQuota = "harvesterhci.io/insufficient-resource-quota"

// report returns the state of a VirtualMachine and its instance, which may be nil.
func report(vm *kubevirtv1.VirtualMachine, ref provider.MachineRef, vmi *kubevirtv1.VirtualMachineInstance) provider.Machine {
	m := provider.Machine{Ref: ref, State: provider.StatePending}
	if vm == nil {
		m.State = provider.StateAbsent
		return m
	}
	m.ID = string(vm.UID)
	m.Addresses, m.MAC = addresses(vm, vmi)
	m.Disks = serials(vm)
	switch {
	case !vm.DeletionTimestamp.IsZero():
		m.State = provider.StateDeleting
	case vm.Status.PrintableStatus == kubevirtv1.VirtualMachineStatusCrashLoopBackOff:
		m.State, m.Message = provider.StateBroken, "the virtual machine keeps crashing"
	case stopped(vm, vmi) != "":
		m.State, m.Message = provider.StateStopped, stopped(vm, vmi)
	case running(vmi) && len(m.Addresses) > 0:
		m.State = provider.StateRunning
	case running(vmi):
		m.Reason, m.Message = provider.ReasonNoAddress, unaddressed(vm, vmi)
	default:
		m.Reason, m.Message = shortage(vmi), obstacle(vm, vmi)
	}
	return m
}

// serials are the disks of a virtual machine that have a serial number. Those that an
// earlier release created have none.
func serials(vm *kubevirtv1.VirtualMachine) (out []v1alpha1.MachineDisk) {
	if vm.Spec.Template == nil {
		return nil
	}
	for _, d := range vm.Spec.Template.Spec.Domain.Devices.Disks {
		if d.Serial != "" {
			out = append(out, v1alpha1.MachineDisk{Name: d.Name, Serial: d.Serial})
		}
	}
	return out
}

// stopped explains a virtual machine that is off and that KubeVirt does not start
// again by itself; the text is empty for every other. The printable status does not
// suffice: KubeVirt shows Stopped between two starts as well.
func stopped(vm *kubevirtv1.VirtualMachine, vmi *kubevirtv1.VirtualMachineInstance) string {
	off := vmi == nil || vmi.IsFinal()
	strategy, err := vm.RunStrategy()
	switch {
	case err != nil || !off:
		return ""
	case strategy == kubevirtv1.RunStrategyHalted:
		return switchedOff(vm)
	case vmi != nil && vmi.Status.Phase == kubevirtv1.Succeeded && strategy != kubevirtv1.RunStrategyAlways:
		return "the guest has shut itself down"
	case vmi == nil && strategy == kubevirtv1.RunStrategyRerunOnFailure && ended(vm):
		return "the guest has shut itself down or was stopped: its runStrategy RerunOnFailure starts it again after a failure only"
	}
	return ""
}

// switchedOff explains a virtual machine with the runStrategy Halted. Harvester sets it
// itself, and says so, where the quota of Rancher has no room for the machine.
func switchedOff(vm *kubevirtv1.VirtualMachine) string {
	if why := vm.Annotations[annotationOverQuota]; why != "" {
		return fmt.Sprintf("Harvester switched the virtual machine off: %s; raise the quota of the namespace, then start it", why)
	}
	return "the virtual machine was switched off: its runStrategy is Halted"
}

// ended reports whether KubeVirt has removed the instance of a virtual machine with
// RerunOnFailure for good. It keeps a clean end nowhere else: the status has the run
// strategy since the first start, and between a failure and the next start it has a
// request for that.
func ended(vm *kubevirtv1.VirtualMachine) bool {
	starts := slices.ContainsFunc(vm.Status.StateChangeRequests, func(r kubevirtv1.VirtualMachineStateChangeRequest) bool {
		return r.Action == kubevirtv1.StartRequest
	})
	return vm.Status.RunStrategy == kubevirtv1.RunStrategyRerunOnFailure && !vm.Status.Created && !starts && vm.Status.StartFailure == nil
}

func running(vmi *kubevirtv1.VirtualMachineInstance) bool {
	return vmi != nil && vmi.DeletionTimestamp.IsZero() && vmi.Status.Phase == kubevirtv1.Running
}

// scheduled reports whether the instance has come so far that its disks are there.
func scheduled(vmi *kubevirtv1.VirtualMachineInstance) bool {
	return vmi != nil && (vmi.Status.Phase == kubevirtv1.Scheduled || vmi.Status.Phase == kubevirtv1.Running)
}

// unaddressed explains a guest that runs without a known address. On a bridge
// network KubeVirt learns addresses from the guest agent alone.
func unaddressed(vm *kubevirtv1.VirtualMachine, vmi *kubevirtv1.VirtualMachineInstance) string {
	name := "its network"
	if t := vm.Spec.Template; t != nil && len(t.Spec.Networks) > 0 && t.Spec.Networks[0].Multus != nil {
		name = "network " + t.Spec.Networks[0].Multus.NetworkName
	}
	for _, c := range vmi.Status.Conditions {
		if c.Type == kubevirtv1.VirtualMachineInstanceAgentConnected && c.Status == corev1.ConditionTrue {
			return fmt.Sprintf("the virtual machine runs, but has no address on %s: %s", name, unaddressedHint(vm))
		}
	}
	return fmt.Sprintf("the virtual machine runs, but no guest agent reports its address on %s: "+
		"use an image with qemu-guest-agent, and check that it boots", name)
}

// unaddressedHint is what to look at where a guest has no address.
func unaddressedHint(vm *kubevirtv1.VirtualMachine) string {
	if t := vm.Spec.Template; t != nil && slices.ContainsFunc(t.Spec.Volumes, hasNetworkData) {
		return "use an image that reads NoCloud network data; for Talos that is the image for the platform nocloud"
	}
	return "check DHCP there"
}

func hasNetworkData(v kubevirtv1.Volume) bool {
	c := v.CloudInitNoCloud
	return c != nil && (c.NetworkData != "" || c.NetworkDataSecretRef != nil)
}

// obstacle is the first complaint of the instance, else of the VirtualMachine.
func obstacle(vm *kubevirtv1.VirtualMachine, vmi *kubevirtv1.VirtualMachineInstance) string {
	if vmi != nil {
		if c := complaint(vmi); c != "" {
			return c
		}
		return fmt.Sprintf("the virtual machine is %s", phase(string(vmi.Status.Phase)))
	}
	for _, c := range vm.Status.Conditions {
		if c.Type == kubevirtv1.VirtualMachineFailure && c.Status == corev1.ConditionTrue {
			return c.Message
		}
	}
	return fmt.Sprintf("the virtual machine is %s", phase(string(vm.Status.PrintableStatus)))
}

// shortage is the reason of an instance that no host has room for; empty for others.
func shortage(vmi *kubevirtv1.VirtualMachineInstance) string {
	if vmi == nil {
		return ""
	}
	for _, c := range vmi.Status.Conditions {
		if c.Type == kubevirtv1.VirtualMachineInstanceConditionType(corev1.PodScheduled) && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return provider.ReasonCapacityExhausted
		}
	}
	return ""
}

// complaint is the message of the first condition that is not met. That of Ready has
// no cause, and a guest that cannot be migrated runs all the same.
func complaint(vmi *kubevirtv1.VirtualMachineInstance) string {
	for _, c := range vmi.Status.Conditions {
		cause := c.Type != kubevirtv1.VirtualMachineInstanceReady && c.Type != kubevirtv1.VirtualMachineInstanceIsMigratable
		if c.Status == corev1.ConditionFalse && c.Message != "" && cause {
			return c.Message
		}
	}
	return ""
}

func phase(s string) string {
	if s == "" {
		return "not scheduled yet"
	}
	return "in state " + s
}

// addresses returns the addresses and the hardware address of the interface on the
// requested network. An interface without a name is known to the guest agent alone: it
// belongs to the guest, for example to its pod network.
func addresses(vm *kubevirtv1.VirtualMachine, vmi *kubevirtv1.VirtualMachineInstance) ([]netip.Addr, string) {
	if vmi == nil {
		return nil, ""
	}
	name := requested(vm)
	at := slices.IndexFunc(vmi.Status.Interfaces, func(i kubevirtv1.VirtualMachineInstanceNetworkInterface) bool { return i.Name == name })
	if at < 0 {
		return nil, ""
	}
	i := vmi.Status.Interfaces[at]
	return provider.Addresses(append([]string{i.IP}, i.IPs...)...), i.MAC
}

// requested names the network that the machine was requested on: the first one.
func requested(vm *kubevirtv1.VirtualMachine) string {
	if t := vm.Spec.Template; t != nil && len(t.Spec.Networks) > 0 {
		return t.Spec.Networks[0].Name
	}
	return networkLabel
}
