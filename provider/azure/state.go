// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// report returns the state of a machine, whose interface it reads if it runs.
func (p *platform) report(ctx context.Context, op string, vm armcompute.VirtualMachine, ref provider.MachineRef) (provider.Machine, error) {
	r := p.reported(vm, ref)
	if r.State != provider.StateRunning {
		return r, nil
	}
	nic, err := p.nics.Get(ctx, p.spec.ResourceGroup, last(nicOf(vm)), nil)
	if gone(err) {
		return addressed(r, nil, nil), nil
	}
	if err != nil {
		return r, apiError(op, err)
	}
	address, err := p.publicAddress(ctx, nic.Interface)
	return addressed(r, &nic.Interface, address), apiError(op, err)
}

// publicAddress reads the public address of an interface, nil if it has none.
func (p *platform) publicAddress(ctx context.Context, nic armnetwork.Interface) (*armnetwork.PublicIPAddress, error) {
	id := addressOf(nic)
	if id == "" {
		return nil, nil
	}
	found, err := p.addresses.Get(ctx, p.spec.ResourceGroup, last(id), nil)
	if gone(err) {
		return nil, nil
	}
	return &found.PublicIPAddress, err
}

// reported is the state of a machine as far as the compute service knows it. It has an ID
// once its creation has succeeded: one for which no capacity was found is created again
// elsewhere.
func (p *platform) reported(vm armcompute.VirtualMachine, ref provider.MachineRef) provider.Machine {
	m := provider.Machine{Ref: ref, State: provider.StatePending, ID: p.resource(kindVM, ref.Name)}
	name, power := "virtual machine "+ref.Name, powerOf(vm)
	code, text := failure(vm)
	switch provisioning := provisioningOf(vm); {
	case provisioning == "Deleting":
		m.State, m.Message = provider.StateDeleting, name+" is being deleted"
	case provisioning == "Creating":
		m.ID, m.Message = "", fmt.Sprintf("%s (%s) is being created", name, sizeNameOf(vm))
	case unplaced(vm):
		m.ID, m.State, m.Reason, m.Message = "", provider.StatePartial, meanings()[code].Reason, fmt.Sprintf("%s (%s): %s: %s", name, sizeNameOf(vm), code, text)
	case full(vm) && (power == "stopped" || power == "deallocated"):
		m.State, m.Message = provider.StateStopped, fmt.Sprintf("%s is %s, and its start has failed: %s: %s", name, power, code, text)
	case provisioning == "Failed" && power != "running":
		m.State, m.Message = provider.StateBroken, strings.TrimSuffix(fmt.Sprintf("%s: %s: %s", name, code, text), ": ")
	case power == "running":
		m.State, m.Disks = provider.StateRunning, disksIn(vm)
	case power == "stopped", power == "deallocated":
		m.State, m.Message = provider.StateStopped, name+" is "+power
	case power == "":
		m.Message = name + " has no power state yet"
	default:
		m.Message = name + " is " + power
	}
	return m
}

// creationTime is how long a creation takes at most.
const creationTime = time.Hour

// full reports whether Azure found no capacity for the last operation on a machine.
func full(vm armcompute.VirtualMachine) bool {
	code, _ := failure(vm)
	return meanings()[code].Reason == provider.ReasonCapacityExhausted
}

// unplaced reports whether the creation itself found no capacity. The start of a machine
// that has run before fails with the same code, and its disks have data: one that is older
// than a creation takes, or of unknown age, counts as such.
func unplaced(vm armcompute.VirtualMachine) bool {
	created := vm.Properties != nil && vm.Properties.TimeCreated != nil && time.Since(*vm.Properties.TimeCreated) < creationTime
	return created && full(vm) && powerOf(vm) != "running"
}

// addressed adds to a machine that runs what its interface has.
func addressed(m provider.Machine, nic *armnetwork.Interface, address *armnetwork.PublicIPAddress) provider.Machine {
	var texts []string
	if nic != nil && nic.Properties != nil {
		for _, c := range nic.Properties.IPConfigurations {
			if c.Properties != nil {
				texts = append(texts, value(c.Properties.PrivateIPAddress))
			}
		}
		m.MAC = strings.ToLower(strings.ReplaceAll(value(nic.Properties.MacAddress), "-", ":"))
	}
	if address != nil && address.Properties != nil {
		texts = append(texts, value(address.Properties.IPAddress))
	}
	m.Addresses = provider.Addresses(texts...)
	if m.NodeProviderID = nodeID(m.ID); len(m.Addresses) == 0 {
		m.State, m.NodeProviderID, m.Reason, m.Message = provider.StatePending, "", provider.ReasonNoAddress, "virtual machine "+m.Ref.Name+" runs without an address"
	}
	return m
}

// nodeID is the provider ID that the cloud controller manager compares with: the name of
// the resource group is in lower case there.
func nodeID(id string) string {
	words := strings.Split(id, "/")
	if len(words) > 4 {
		words[4] = strings.ToLower(words[4])
	}
	return "azure://" + strings.Join(words, "/")
}

// disksIn returns the extra disks: the guest finds them by their LUN. That of the operating
// system has none.
func disksIn(vm armcompute.VirtualMachine) (all []v1alpha1.MachineDisk) {
	if vm.Properties == nil || vm.Properties.StorageProfile == nil {
		return nil
	}
	for _, d := range vm.Properties.StorageProfile.DataDisks {
		if lun := value(d.Lun); strings.HasSuffix(value(d.Name), fmt.Sprintf("-disk-%d", lun+1)) {
			all = append(all, v1alpha1.MachineDisk{Name: fmt.Sprintf("disk-%d", lun+1), LUN: &lun})
		}
	}
	return all
}

func provisioningOf(vm armcompute.VirtualMachine) string {
	if vm.Properties == nil {
		return ""
	}
	return value(vm.Properties.ProvisioningState)
}

func sizeNameOf(vm armcompute.VirtualMachine) string {
	if vm.Properties == nil || vm.Properties.HardwareProfile == nil {
		return ""
	}
	return string(value(vm.Properties.HardwareProfile.VMSize))
}

// statuses are the codes of the run time status, in order.
func statuses(vm armcompute.VirtualMachine) []*armcompute.InstanceViewStatus {
	if vm.Properties == nil || vm.Properties.InstanceView == nil {
		return nil
	}
	return vm.Properties.InstanceView.Statuses
}

// powerOf is running, stopped, deallocated and so on.
func powerOf(vm armcompute.VirtualMachine) string {
	for _, s := range statuses(vm) {
		if state, ok := strings.CutPrefix(value(s.Code), "PowerState/"); ok {
			return state
		}
	}
	return ""
}

// failure is why the last operation on a machine has failed.
func failure(vm armcompute.VirtualMachine) (code, text string) {
	if provisioningOf(vm) != "Failed" {
		return "", ""
	}
	code = "Failed"
	for _, s := range statuses(vm) {
		words := strings.Split(value(s.Code), "/")
		if words[0] == "ProvisioningState" && len(words) > 2 {
			return words[2], stable(value(s.Message))
		}
	}
	return code, "the last operation on it has failed"
}

func nicOf(vm armcompute.VirtualMachine) string {
	if vm.Properties == nil || vm.Properties.NetworkProfile == nil {
		return ""
	}
	for _, n := range vm.Properties.NetworkProfile.NetworkInterfaces {
		if len(vm.Properties.NetworkProfile.NetworkInterfaces) == 1 || n.Properties != nil && value(n.Properties.Primary) {
			return value(n.ID)
		}
	}
	return ""
}

func addressOf(nic armnetwork.Interface) string {
	if nic.Properties == nil {
		return ""
	}
	for _, c := range nic.Properties.IPConfigurations {
		if c.Properties != nil && c.Properties.PublicIPAddress != nil {
			return value(c.Properties.PublicIPAddress.ID)
		}
	}
	return ""
}
