// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/internal/sim/cloud/cloudtest"
)

type change = func(*armcompute.VirtualMachine)

func sized(name string) change {
	return func(v *armcompute.VirtualMachine) {
		v.Properties.HardwareProfile.VMSize = new(armcompute.VirtualMachineSizeTypes(name))
	}
}

func TestMachinesAreRefused(t *testing.T) {
	f := start(t, azure.Seed{Restricted: []string{"Standard_D4s_v5"}, VCPUs: 16, Images: []azure.Image{{Name: "talos"}, {Name: "old", Generation: "V1"}, {Name: "elsewhere", Location: "eastus"}}})
	f.createNIC(t, "one")
	image := func(id string) change {
		return func(v *armcompute.VirtualMachine) {
			v.Properties.StorageProfile.ImageReference = &armcompute.ImageReference{ID: new(resources + "Microsoft.Compute/" + id)}
		}
	}
	for what, c := range map[string]struct {
		change change
		want   string
	}{
		"no size":              {sized("Standard_D3s_v5"), "400 InvalidParameter"},
		"restricted size":      {sized("Standard_D4s_v5"), "409 SkuNotAvailable"},
		"size of other zones":  {func(v *armcompute.VirtualMachine) { sized("Standard_F2as_v6")(v) }, "409 SkuNotAvailable"},
		"quota":                {sized("Standard_D32s_v5"), "409 OperationNotAllowed"},
		"another architecture": {sized("Standard_D2ps_v5"), "400 BadRequest"},
		"another generation":   {func(v *armcompute.VirtualMachine) { image("images/old")(v); sized("Standard_D2s_v6")(v) }, "400 BadRequest"},
		"premium disk":         {sized("Standard_D2_v5"), "400 InvalidParameter"},
		"no image":             {image("images/none"), "404 ResourceNotFound"},
		"image elsewhere":      {image("images/elsewhere"), "400 InvalidParameter"},
		"no such platform image": {func(v *armcompute.VirtualMachine) {
			v.Properties.StorageProfile.ImageReference = &armcompute.ImageReference{Publisher: new("a"), Offer: new("b"), SKU: new("c"), Version: new("latest")}
		}, "404 PlatformImageNotFound"},
		"small disk": {func(v *armcompute.VirtualMachine) { v.Properties.StorageProfile.OSDisk.DiskSizeGB = new(int32(4)) }, "400 ResizeDiskError"},
		"no interface": {func(v *armcompute.VirtualMachine) {
			v.Properties.NetworkProfile.NetworkInterfaces[0].ID = new(resources + "Microsoft.Network/networkInterfaces/none")
		}, "404 NotFound"},
		"no password": {func(v *armcompute.VirtualMachine) { v.Properties.OSProfile.LinuxConfiguration = nil }, "400 InvalidParameter"},
		"no profile":  {func(v *armcompute.VirtualMachine) { v.Properties.OSProfile = nil }, "400 InvalidParameter"},
		"user":        {func(v *armcompute.VirtualMachine) { v.Properties.OSProfile.AdminUsername = new("root") }, "400 InvalidParameter"},
		"custom data": {func(v *armcompute.VirtualMachine) { v.Properties.OSProfile.CustomData = new("?") }, "400 InvalidParameter"},
		"too much data": {func(v *armcompute.VirtualMachine) {
			v.Properties.OSProfile.CustomData = new(strings.Repeat("QUFB", 22000))
		}, "400 InvalidParameter"},
		"no such zone": {func(v *armcompute.VirtualMachine) { v.Zones = []*string{new("4")} }, "400 AvailabilityZoneNotSupported"},
		"host encryption": {func(v *armcompute.VirtualMachine) {
			v.Properties.SecurityProfile = &armcompute.SecurityProfile{EncryptionAtHost: new(true)}
		}, "400 InvalidParameter"},
		"no set": {func(v *armcompute.VirtualMachine) {
			v.Zones, v.Properties.AvailabilitySet = nil, &armcompute.SubResource{ID: new(resources + "Microsoft.Compute/availabilitySets/none")}
		}, "404 NotFound"},
		"many tags": {func(v *armcompute.VirtualMachine) { v.Tags = manyTags(51) }, "400 InvalidTags"},
		"long tag":  {func(v *armcompute.VirtualMachine) { v.Tags = map[string]*string{"a": new(strings.Repeat("x", 257))} }, "400 InvalidTagValueLength"},
		"two disks of a LUN": {func(v *armcompute.VirtualMachine) {
			d := &armcompute.DataDisk{Lun: new(int32(0)), CreateOption: new(armcompute.DiskCreateOptionTypesEmpty), DiskSizeGB: new(int32(1))}
			v.Properties.StorageProfile.DataDisks = []*armcompute.DataDisk{d, d}
		}, "400 InvalidParameter"},
	} {
		_, err := f.compute.NewVirtualMachinesClient().BeginCreateOrUpdate(t.Context(), "example", "one", machine("one", c.change), nil)
		expect(t, what, err, c.want)
	}
	_, err := f.compute.NewVirtualMachinesClient().BeginCreateOrUpdate(t.Context(), "example", "one_", machine("one"), nil)
	expect(t, "name", err, "400 InvalidParameter")
	if left := f.count(t); left != 1 {
		t.Errorf("refused machines have left %d objects beside the interface", left-1)
	}
}

func manyTags(n int) map[string]*string {
	out := map[string]*string{}
	for i := range n {
		out[fmt.Sprint("t", i)] = new("")
	}
	return out
}

// count counts machines, disks and interfaces.
func (f *fixture) count(t *testing.T) (n int) {
	t.Helper()
	vms, err := f.compute.NewVirtualMachinesClient().NewListPager("example", nil).NextPage(t.Context())
	cloudtest.Must(t, err)
	disks, err := f.compute.NewDisksClient().NewListByResourceGroupPager("example", nil).NextPage(t.Context())
	cloudtest.Must(t, err)
	nics, err := f.net.NewInterfacesClient().NewListPager("example", nil).NextPage(t.Context())
	cloudtest.Must(t, err)
	return len(vms.Value) + len(disks.Value) + len(nics.Value)
}

func TestMachineIsCreatedOnce(t *testing.T) {
	f := start(t, azure.Seed{})
	f.run(t, "one")
	vms := f.compute.NewVirtualMachinesClient()
	only := &armcompute.VirtualMachinesClientBeginCreateOrUpdateOptions{IfNoneMatch: new("*")}
	_, err := vms.BeginCreateOrUpdate(t.Context(), "example", "one", machine("one"), only)
	expect(t, "again", err, "412 PreconditionFailed")
	_, err = vms.BeginCreateOrUpdate(t.Context(), "example", "one", machine("one"), &armcompute.VirtualMachinesClientBeginCreateOrUpdateOptions{IfNoneMatch: new(`"1"`)})
	expect(t, "other condition", err, "400 InvalidParameter")
	_, err = vms.BeginCreateOrUpdate(t.Context(), "example", "one", machine("one"), nil)
	expect(t, "other custom data", err, "409 PropertyChangeNotAllowed")
	_, err = vms.BeginCreateOrUpdate(t.Context(), "example", "one", machine("one"), &armcompute.VirtualMachinesClientBeginCreateOrUpdateOptions{IfMatch: new(`"9"`)})
	expect(t, "another ETag", err, "412 PreconditionFailed")
	p, err := vms.BeginUpdate(t.Context(), "example", "one", armcompute.VirtualMachineUpdate{Tags: map[string]*string{"role": new("other")}}, nil)
	cloudtest.Must(t, err)
	if got := finish(t, p); *got.Tags["role"] != "other" || f.Boots.Load() != 1 {
		t.Errorf("after %d starts the tags are %v", f.Boots.Load(), got.Tags)
	}
}

func TestAllocationFailsLater(t *testing.T) {
	f := start(t, azure.Seed{FullZones: []string{"1"}})
	f.createNIC(t, "one")
	vms := f.compute.NewVirtualMachinesClient()
	p, err := vms.BeginCreateOrUpdate(t.Context(), "example", "one", machine("one"), nil)
	cloudtest.Must(t, err)
	_, err = p.PollUntilDone(t.Context(), &runtime.PollUntilDoneOptions{Frequency: time.Millisecond})
	expect(t, "full zone", err, "200 ZonalAllocationFailed")
	got, err := vms.Get(t.Context(), "example", "one", &armcompute.VirtualMachinesClientGetOptions{Expand: new(armcompute.InstanceViewTypesInstanceView)})
	cloudtest.Must(t, err)
	if *got.Properties.ProvisioningState != "Failed" || *got.Properties.InstanceView.Statuses[0].Code != "ProvisioningState/failed/ZonalAllocationFailed" {
		t.Errorf("the machine is %s: %v", *got.Properties.ProvisioningState, *got.Properties.InstanceView.Statuses[0].Code)
	}
	d, err := vms.BeginDelete(t.Context(), "example", "one", nil)
	cloudtest.Must(t, err)
	finish(t, d)
	if left := f.count(t); left != 0 {
		t.Errorf("%d objects are left", left)
	}
	r, err := vms.BeginDelete(t.Context(), "example", "one", nil)
	cloudtest.Must(t, err)
	finish(t, r)
}

func TestPartsThatAreDetachedStay(t *testing.T) {
	f := start(t, azure.Seed{})
	f.run(t, "one", func(v *armcompute.VirtualMachine) {
		v.Properties.StorageProfile.OSDisk.DeleteOption = nil
		v.Properties.NetworkProfile.NetworkInterfaces[0].Properties = nil
	})
	p, err := f.compute.NewVirtualMachinesClient().BeginDelete(t.Context(), "example", "one", nil)
	cloudtest.Must(t, err)
	finish(t, p)
	if left := f.count(t); left != 2 {
		t.Errorf("%d objects are left", left)
	}
	disk, err := f.compute.NewDisksClient().Get(t.Context(), "example", "one-os", nil)
	cloudtest.Must(t, err)
	if disk.ManagedBy != nil || *disk.Properties.DiskState != "Unattached" {
		t.Errorf("the disk is %v", *disk.Properties.DiskState)
	}
	f.createNIC(t, "two")
	_, err = f.compute.NewVirtualMachinesClient().BeginCreateOrUpdate(t.Context(), "example", "two", machine("two", func(v *armcompute.VirtualMachine) {
		v.Properties.StorageProfile.OSDisk.Name = new("one-os")
	}), nil)
	expect(t, "name of a disk that exists", err, "409 ConflictingUserInput")
}

func TestPowerStates(t *testing.T) {
	f := start(t, azure.Seed{})
	f.run(t, "one")
	vms := f.compute.NewVirtualMachinesClient()
	power := func() string {
		v, err := vms.InstanceView(t.Context(), "example", "one", nil)
		cloudtest.Must(t, err)
		return *v.Statuses[1].Code
	}
	off, err := vms.BeginPowerOff(t.Context(), "example", "one", nil)
	cloudtest.Must(t, err)
	finish(t, off)
	if got := power(); got != "PowerState/stopped" {
		t.Error(got)
	}
	released, err := vms.BeginDeallocate(t.Context(), "example", "one", nil)
	cloudtest.Must(t, err)
	finish(t, released)
	if got := power(); got != "PowerState/deallocated" {
		t.Error(got)
	}
	on, err := vms.BeginStart(t.Context(), "example", "one", nil)
	cloudtest.Must(t, err)
	finish(t, on)
	if got := power(); got != "PowerState/running" || f.Boots.Load() != 2 {
		t.Errorf("%s after %d starts", got, f.Boots.Load())
	}
	all, err := vms.NewListAllPager(&armcompute.VirtualMachinesClientListAllOptions{StatusOnly: new("true")}).NextPage(t.Context())
	cloudtest.Must(t, err)
	if len(all.Value) != 1 || all.Value[0].Properties.StorageProfile != nil || *all.Value[0].Properties.InstanceView.Statuses[1].Code != "PowerState/running" {
		t.Errorf("the states are %+v", all.Value)
	}
}

func TestListsLagAndArePaged(t *testing.T) {
	f := start(t, azure.Seed{PageSize: 2, Lag: metav1.Duration{Duration: 300 * time.Millisecond}})
	list := func() (names []string) {
		pages := f.net.NewInterfacesClient().NewListAllPager(nil)
		for pages.More() {
			p, err := pages.NextPage(t.Context())
			cloudtest.Must(t, err)
			if len(p.Value) > 2 {
				t.Errorf("a page has %d resources", len(p.Value))
			}
			for _, n := range p.Value {
				names = append(names, *n.Name)
			}
		}
		return names
	}
	for i := range 5 {
		f.createNIC(t, fmt.Sprint("n", i))
	}
	_, err := f.net.NewInterfacesClient().Get(t.Context(), "example", "n4", nil)
	cloudtest.Must(t, err)
	if n := len(list()); n == 5 {
		t.Errorf("%d new resources are listed at once", n)
	}
	cloudtest.Until(t, "all are listed", func() bool { return len(list()) == 5 })
	status, body := f.call(t, http.MethodGet, "/subscriptions/"+subscription+"/resources?api-version=2021-04-01&$filter="+strings.ReplaceAll("resourceType eq 'Microsoft.Network/natGateways' and name eq 'butler-nat'", " ", "%20"), f.token(t), "")
	if status != http.StatusOK || strings.Count(body, `"id"`) != 1 {
		t.Errorf("filter: %d %s", status, body)
	}
}

func TestNetworkRefuses(t *testing.T) {
	f := start(t, azure.Seed{})
	f.createNIC(t, "one")
	ip := func(change func(*armnetwork.InterfaceIPConfigurationPropertiesFormat)) func(*armnetwork.Interface) {
		return func(n *armnetwork.Interface) { change(n.Properties.IPConfigurations[0].Properties) }
	}
	static := func(address string) func(*armnetwork.Interface) {
		return ip(func(p *armnetwork.InterfaceIPConfigurationPropertiesFormat) {
			p.PrivateIPAllocationMethod, p.PrivateIPAddress = new(armnetwork.IPAllocationMethodStatic), &address
		})
	}
	for what, c := range map[string]struct {
		change func(*armnetwork.Interface)
		want   string
	}{
		"taken address":    {static("10.40.0.4"), "400 PrivateIPAddressInUse"},
		"reserved address": {static("10.40.0.1"), "400 PrivateIPAddressInReservedRange"},
		"address outside":  {static("10.99.0.1"), "400 PrivateIPAddressNotInSubnet"},
		"no subnet": {ip(func(p *armnetwork.InterfaceIPConfigurationPropertiesFormat) {
			p.Subnet = &armnetwork.Subnet{ID: new(subnetID + "x")}
		}), "400 InvalidResourceReference"},
		"no group": {func(n *armnetwork.Interface) {
			n.Properties.NetworkSecurityGroup = &armnetwork.SecurityGroup{ID: new(resources + "Microsoft.Network/networkSecurityGroups/x")}
		}, "400 InvalidResourceReference"},
		"no configuration": {func(n *armnetwork.Interface) { n.Properties.IPConfigurations = nil }, "400 InvalidRequestFormat"},
		"reserved tag":     {func(n *armnetwork.Interface) { n.Tags = map[string]*string{"Microsoft.x": new("")} }, "400 ReservedTagName"},
	} {
		_, err := f.net.NewInterfacesClient().BeginCreateOrUpdate(t.Context(), "example", "two", nic(c.change), nil)
		expect(t, what, err, c.want)
	}
	_, err := f.net.NewVirtualNetworksClient().BeginDelete(t.Context(), "example", "butler", nil)
	expect(t, "network in use", err, "400 InUseSubnetCannotBeDeleted")
	_, err = f.net.NewSecurityGroupsClient().BeginDelete(t.Context(), "example", "nodes", nil)
	expect(t, "group in use", err, "400 InUseNetworkSecurityGroupCannotBeDeleted")
	_, err = f.net.NewNatGatewaysClient().BeginDelete(t.Context(), "example", "butler-nat", nil)
	expect(t, "gateway in use", err, "400 InUseNatGatewayCannotBeDeleted")
	_, err = f.net.NewPublicIPAddressesClient().BeginCreateOrUpdate(t.Context(), "example", "basic", armnetwork.PublicIPAddress{Location: new("westeurope")}, nil)
	expect(t, "basic address", err, "400 IPv4BasicSkuPublicIpCountLimitReached")
}

func TestCatalogues(t *testing.T) {
	f := start(t, azure.Seed{Images: []azure.Image{{Name: "talos", Gallery: "own", Version: "1.9.2"}, {Name: "sku", Publisher: "pub", Offer: "offer", Version: "1.0.0"}}, Restricted: []string{"Standard_D4s_v5"}})
	page, err := f.compute.NewResourceSKUsClient().NewListPager(&armcompute.ResourceSKUsClientListOptions{Filter: new("location eq 'westeurope'")}).NextPage(t.Context())
	cloudtest.Must(t, err)
	restricted := 0
	for _, s := range page.Value {
		restricted += len(s.Restrictions)
	}
	if len(page.Value) < 100 || restricted != 1 {
		t.Errorf("%d sizes, %d restrictions", len(page.Value), restricted)
	}
	usages, err := f.compute.NewUsageClient().NewListPager("westeurope", nil).NextPage(t.Context())
	cloudtest.Must(t, err)
	if len(usages.Value) < 10 || *usages.Value[1].Name.Value != "cores" {
		t.Errorf("usages %v", usages.Value)
	}
	_, err = f.compute.NewGalleryImageVersionsClient().Get(t.Context(), "example", "own", "talos", "1.9.2", nil)
	cloudtest.Must(t, err)
	images := f.compute.NewVirtualMachineImagesClient()
	versions, err := images.List(t.Context(), "westeurope", "pub", "offer", "sku", nil)
	cloudtest.Must(t, err)
	if len(versions.VirtualMachineImageResourceArray) != 1 {
		t.Errorf("versions %v", versions)
	}
	_, err = images.Get(t.Context(), "westeurope", "pub", "offer", "sku", "1.0.0", nil)
	cloudtest.Must(t, err)
	_, err = images.Get(t.Context(), "westeurope", "pub", "offer", "sku", "2.0.0", nil)
	expect(t, "no such version", err, "404 PlatformImageNotFound")
	community := f.compute.NewCommunityGalleryImageVersionsClient()
	_, err = community.Get(t.Context(), "westeurope", "siderolabs-c4d707c0-343e-42de-b597-276e4f7a5b0b", "talos-x64", "1.9.2", nil)
	cloudtest.Must(t, err)
	_, err = community.Get(t.Context(), "westeurope", "another", "talos-x64", "1.9.2", nil)
	expect(t, "no such gallery", err, "404 CommunityGalleryNotFound")
	network, err := f.net.NewUsagesClient().NewListPager("westeurope", nil).NextPage(t.Context())
	cloudtest.Must(t, err)
	if len(network.Value) == 0 {
		t.Error("no usages of the network")
	}
	_ = images
}
