// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure_test

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"

	"github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/internal/sim/cloud/cloudtest"
)

func TestMachineLivesAndIsGoneWithItsParts(t *testing.T) {
	f := start(t, azure.Seed{})
	got := f.run(t, "one", func(v *armcompute.VirtualMachine) {
		v.Properties.StorageProfile.DataDisks = []*armcompute.DataDisk{{
			Lun: new(int32(3)), Name: new("one-data"), CreateOption: new(armcompute.DiskCreateOptionTypesEmpty), DiskSizeGB: new(int32(5)), DeleteOption: new(armcompute.DiskDeleteOptionTypesDelete),
		}}
	})
	if *got.Properties.ProvisioningState != "Succeeded" || got.Properties.OSProfile.CustomData != nil || got.Properties.OSProfile.AdminPassword != nil {
		t.Errorf("the machine is %+v", got.Properties)
	}
	if data := f.userData.Load(); data != "configuration" {
		t.Errorf("the guest reads %q", data)
	}
	vms := f.compute.NewVirtualMachinesClient()
	view, err := vms.InstanceView(t.Context(), "EXAMPLE", "ONE", nil)
	cloudtest.Must(t, err)
	if n := len(view.Statuses); n != 2 || *view.Statuses[1].Code != "PowerState/running" {
		t.Errorf("%d states: %v", n, view.Statuses)
	}
	nic, err := f.net.NewInterfacesClient().Get(t.Context(), "example", "one", nil)
	cloudtest.Must(t, err)
	if nic.Properties.VirtualMachine == nil || *nic.Properties.VirtualMachine.ID != *got.ID || *nic.Properties.IPConfigurations[0].Properties.PrivateIPAddress != "10.40.0.4" {
		t.Errorf("its interface is %+v", nic.Properties)
	}
	_, err = f.net.NewInterfacesClient().BeginDelete(t.Context(), "example", "one", nil)
	expect(t, "interface in use", err, "400 NicInUse")
	_, err = f.compute.NewDisksClient().BeginDelete(t.Context(), "example", "one-data", nil)
	expect(t, "disk in use", err, "409 OperationNotAllowed")
	p, err := vms.BeginDelete(t.Context(), "example", "one", nil)
	cloudtest.Must(t, err)
	finish(t, p)
	_, err = vms.Get(t.Context(), "example", "one", nil)
	expect(t, "machine", err, "404 ResourceNotFound")
	_, err = f.net.NewInterfacesClient().Get(t.Context(), "example", "one", nil)
	expect(t, "interface", err, "404 ResourceNotFound")
	for _, name := range []string{"one-os", "one-data"} {
		_, err = f.compute.NewDisksClient().Get(t.Context(), "example", name, nil)
		expect(t, name, err, "404 ResourceNotFound")
	}
}
