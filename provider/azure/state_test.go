// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

func machine(provisioning string, codes ...string) armcompute.VirtualMachine {
	view := &armcompute.VirtualMachineInstanceView{}
	for _, c := range codes {
		view.Statuses = append(view.Statuses, &armcompute.InstanceViewStatus{Code: &c, Message: new("why")})
	}
	return armcompute.VirtualMachine{Properties: &armcompute.VirtualMachineProperties{ProvisioningState: &provisioning, InstanceView: view}}
}

func aged(age time.Duration, vm armcompute.VirtualMachine) armcompute.VirtualMachine {
	vm.Properties.TimeCreated = new(time.Now().Add(-age))
	return vm
}

func TestStatesOfMachines(t *testing.T) {
	p := &platform{spec: v1alpha1.AzureSpec{SubscriptionID: "s", ResourceGroup: "Prod"}}
	for name, c := range map[string]struct {
		vm    armcompute.VirtualMachine
		state provider.State
		known bool // it has an ID
		says  bool // it has a message
	}{
		"being created":              {machine("Creating"), provider.StatePending, false, true},
		"being deleted":              {machine("Deleting", "PowerState/running"), provider.StateDeleting, true, true},
		"running":                    {machine("Succeeded", "ProvisioningState/succeeded", "PowerState/running"), provider.StateRunning, true, false},
		"being changed":              {machine("Updating", "PowerState/running"), provider.StateRunning, true, false},
		"running after a failure":    {machine("Failed", "ProvisioningState/failed/VMExtensionError", "PowerState/running"), provider.StateRunning, true, false},
		"starting":                   {machine("Succeeded", "PowerState/starting"), provider.StatePending, true, true},
		"without a power state":      {machine("Succeeded"), provider.StatePending, true, true},
		"off":                        {machine("Succeeded", "PowerState/stopped"), provider.StateStopped, true, true},
		"deallocated":                {machine("Succeeded", "PowerState/deallocated"), provider.StateStopped, true, true},
		"no capacity after creation": {aged(time.Minute, machine("Failed", "ProvisioningState/failed/AllocationFailed")), provider.StatePartial, false, true},
		"no capacity for a start":    {aged(2*time.Hour, machine("Failed", "ProvisioningState/failed/AllocationFailed", "PowerState/deallocated")), provider.StateStopped, true, true},
		"no capacity, long ago":      {aged(2*time.Hour, machine("Failed", "ProvisioningState/failed/AllocationFailed")), provider.StateBroken, true, true},
		"no capacity, age unknown":   {machine("Failed", "ProvisioningState/failed/AllocationFailed"), provider.StateBroken, true, true},
		"no capacity, but it runs":   {aged(time.Minute, machine("Failed", "ProvisioningState/failed/AllocationFailed", "PowerState/running")), provider.StateRunning, true, false},
		"broken":                     {machine("Failed", "ProvisioningState/failed/OSProvisioningInternalError"), provider.StateBroken, true, true},
		"broken without a word":      {machine("Failed"), provider.StateBroken, true, true},
	} {
		got := p.reported(c.vm, provider.MachineRef{Name: "m"})
		if got.State != c.state || (got.ID != "") != c.known || (got.Message != "") != c.says {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestWhatAnInterfaceAdds(t *testing.T) {
	p := &platform{spec: v1alpha1.AzureSpec{SubscriptionID: "s", ResourceGroup: "Prod"}}
	running := p.reported(machine("Succeeded", "PowerState/running"), provider.MachineRef{Name: "mgmt-cp-0"})
	nic := &armnetwork.Interface{Properties: &armnetwork.InterfacePropertiesFormat{
		MacAddress:       new("00-0D-3A-1B-2C-3D"),
		IPConfigurations: []*armnetwork.InterfaceIPConfiguration{{Properties: &armnetwork.InterfaceIPConfigurationPropertiesFormat{PrivateIPAddress: new("10.0.0.4")}}},
	}}
	address := &armnetwork.PublicIPAddress{Properties: &armnetwork.PublicIPAddressPropertiesFormat{IPAddress: new("20.1.2.3")}}
	m := addressed(running, nic, address)
	const id = "azure:///subscriptions/s/resourceGroups/prod/providers/Microsoft.Compute/virtualMachines/mgmt-cp-0"
	if m.MAC != "00:0d:3a:1b:2c:3d" || len(m.Addresses) != 2 || m.Addresses[0].String() != "10.0.0.4" || m.NodeProviderID != id || m.State != provider.StateRunning {
		t.Errorf("%+v", m)
	}
	if m := addressed(running, nil, nil); m.State != provider.StatePending || m.NodeProviderID != "" || m.Message == "" {
		t.Errorf("without an interface: %+v", m)
	}
}
