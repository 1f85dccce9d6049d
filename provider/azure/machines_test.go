// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/provider"
)

// TestAStockOutTriesTheNextZoneAndAQuotaDoesNot follows the reconciler: an attempt that
// was refused is planned again.
func TestAStockOutTriesTheNextZoneAndAQuotaDoesNot(t *testing.T) {
	f := newFixture(t, sim.Seed{VCPUs: 4, FullZones: []string{"1"}})
	p := f.connected(t)
	s := cluster()[0]
	m, zones := f.created(t, p, s)
	if zones != "2" || m.NodeProviderID == "" {
		t.Errorf("it runs in zone %s as %s", zones, m.NodeProviderID)
	}
	other := cluster()[1]
	first, err := p.Plan(t.Context(), other, provider.Attempt{})
	if err != nil {
		t.Fatal(err)
	}
	other.Attempt = first
	_, refused := p.Machines.Create(t.Context(), other)
	if provider.ReasonOf(refused) != provider.ReasonQuotaExceeded {
		t.Fatalf("beyond the quota: %v", refused)
	}
	if again, err := p.Plan(t.Context(), other, provider.Attempt{Record: first, Refused: refused}); again != first || err != nil {
		t.Errorf("after a quota another attempt is planned: %s, %v", again, err)
	}
}

// created creates a machine as the reconciler does, until it runs, and returns its zones.
func (f *fixture) created(t *testing.T, p provider.Platform, s provider.MachineSpec) (provider.Machine, string) {
	t.Helper()
	last := provider.Attempt{}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		m, err := p.Machines.Observe(t.Context(), s.MachineRef)
		if err != nil {
			t.Fatal(err)
		}
		switch m.State { //nolint:exhaustive // the others pass
		case provider.StateRunning:
			vm, err := f.admin.vms.Get(t.Context(), f.admin.spec.ResourceGroup, s.Name, nil)
			if err != nil {
				t.Fatal(err)
			}
			return m, strings.Join(values(vm.Zones), " ")
		case provider.StateAbsent, provider.StatePartial:
			if last.Record == "" || last.Refused != nil {
				if last.Record, err = p.Plan(t.Context(), s, last); err != nil {
					t.Fatal(err)
				}
				last.Refused = nil
			}
			s.Attempt = last.Record
			if _, err = p.Machines.Create(t.Context(), s); err != nil && provider.ReasonOf(err) == provider.ReasonCapacityExhausted {
				last.Refused = err
			} else if err != nil && provider.KindOf(err) != provider.Unavailable {
				t.Fatal(err)
			}
		}
	}
	t.Fatalf("%s does not run", s.Name)
	return provider.Machine{}, ""
}

// TestControlPlanesWithoutZonesAreInAnAvailabilitySet, which ends with the last of them.
func TestControlPlanesWithoutZonesAreInAnAvailabilitySet(t *testing.T) {
	f := newFixture(t, sim.Seed{NoZones: true})
	p := f.connected(t)
	for _, s := range cluster() {
		_, zones := f.created(t, p, s)
		vm, err := f.admin.vms.Get(t.Context(), f.admin.spec.ResourceGroup, s.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if in := vm.Properties.AvailabilitySet != nil; zones != "" || in != (s.Role == v1alpha1.RoleControlPlane) {
			t.Errorf("%s: zones %q, in an availability set: %t", s.Name, zones, in)
		}
	}
	for _, s := range cluster() {
		f.deleted(t, p, s.MachineRef)
	}
	if left, err := f.admin.emptySets(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("left: %d availability sets, %v", len(left), err)
	}
}

func (f *fixture) deleted(t *testing.T, p provider.Platform, ref provider.MachineRef) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		m, err := p.Machines.Delete(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if m.State == provider.StateAbsent {
			return
		}
	}
	t.Fatalf("%s is not deleted", ref.Name)
}

// nothingLeft demands that no part of a machine of the driver is left.
func (f *fixture) nothingLeft(t *testing.T) {
	t.Helper()
	left, err := f.admin.parts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range left {
		if tagsOf(d.tags).OwnerID != "" {
			t.Errorf("left: %s %s", d.Kind, d.Name)
		}
	}
}

// TestAMachineHasWhatItsSpecSays: the disk by its LUN, the address that is asked for,
// encryption where the subscription has it, boot diagnostics, no agent.
func TestAMachineHasWhatItsSpecSays(t *testing.T) {
	f := newFixture(t, sim.Seed{EncryptionAtHost: true})
	p := f.connected(t, func(c *provider.Config) { c.Spec.Azure.PublicIP = true })
	s := cluster()[2]
	s.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 5}, {SizeGB: 7, StorageClass: "StandardSSD_LRS"}}
	m, _ := f.created(t, p, s)
	if len(m.Addresses) != 2 || !m.Addresses[0].IsPrivate() || m.Addresses[1].IsPrivate() || m.MAC == "" {
		t.Errorf("%v, %s", m.Addresses, m.MAC)
	}
	if len(m.Disks) != 2 || m.Disks[1].Name != "disk-2" || value(m.Disks[1].LUN) != 1 {
		t.Errorf("disks: %+v", m.Disks)
	}
	vm, err := f.admin.vms.Get(t.Context(), f.admin.spec.ResourceGroup, s.Name, nil)
	if err != nil {
		t.Fatal(err)
	}
	q := vm.Properties
	if q.SecurityProfile == nil || !value(q.SecurityProfile.EncryptionAtHost) || q.DiagnosticsProfile == nil || !value(q.DiagnosticsProfile.BootDiagnostics.Enabled) || value(q.OSProfile.LinuxConfiguration.ProvisionVMAgent) {
		t.Errorf("%+v", q)
	}
	address, err := f.admin.addresses.Get(t.Context(), f.admin.spec.ResourceGroup, partName(s.Owner.ID, s.Name, suffixAddress), nil)
	if err != nil || len(address.Zones) != 3 {
		t.Errorf("the address is in zones %v, and of no use in another one: %v", values(address.Zones), err)
	}
	f.deleted(t, p, s.MachineRef)
	f.nothingLeft(t)
}

// TestAPartThatAnotherHoldsIsNamed: nothing ends that wait but the operator.
func TestAPartThatAnotherHoldsIsNamed(t *testing.T) {
	const group = "/subscriptions/s/resourceGroups/g/providers/"
	on := func(name, holder string) part {
		return part{Part: provider.Part{Kind: provider.PartDisk, Name: name}, holder: holder}
	}
	ref := provider.MachineRef{Name: "mgmt-w-0", Owner: provider.Owner{ID: "o"}}
	nic := group + "Microsoft.Network/networkInterfaces/" + partName("o", "mgmt-w-0", suffixNIC) + "/ipConfigurations/a"
	for name, c := range map[string]struct {
		left []part
		says string // empty: it is waited for
	}{
		"nothing is left":             {nil, ""},
		"another machine has a disk":  {[]part{on("disk", group+"Microsoft.Compute/virtualMachines/other")}, "disk is attached to " + group + "Microsoft.Compute/virtualMachines/other"},
		"another one has an address":  {[]part{on("ip", group+"Microsoft.Network/networkInterfaces/other/ipConfigurations/a")}, "networkInterfaces/other"},
		"the own machine has it":      {[]part{on("disk", group+"Microsoft.Compute/virtualMachines/MGMT-W-0")}, ""},
		"the own interface has it":    {[]part{on("ip", nic)}, ""},
		"another part is removed yet": {[]part{on("disk", group+"Microsoft.Compute/virtualMachines/other"), on("nic", "")}, ""},
	} {
		err := held("delete", ref, c.left)
		if (err != nil) != (c.says != "") || err != nil && (provider.KindOf(err) != provider.InUse || provider.ReasonOf(err) != provider.ReasonDeletionRefused || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWhatAnOperatorDetachesIsSwept: parts that do not end with the machine.
func TestWhatAnOperatorDetachesIsSwept(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	p := f.connected(t)
	s := cluster()[2]
	f.created(t, p, s)
	vm, err := f.admin.vms.Get(t.Context(), f.admin.spec.ResourceGroup, s.Name, nil)
	if err != nil {
		t.Fatal(err)
	}
	vm.Properties.StorageProfile.OSDisk.DeleteOption = new(armcompute.DiskDeleteOptionTypesDetach)
	vm.Properties.NetworkProfile.NetworkInterfaces[0].Properties.DeleteOption = new(armcompute.DeleteOptionsDetach)
	change, err := f.admin.vms.BeginCreateOrUpdate(t.Context(), f.admin.spec.ResourceGroup, s.Name, vm.VirtualMachine, nil)
	if err := finished(t.Context(), change, err); err != nil {
		t.Fatal(err)
	}
	f.deleted(t, p, s.MachineRef)
	f.nothingLeft(t)
}

// TestPartsThatCannotBeUsedAreNotUsed: an interface and an address whose creation has
// failed, and an interface in another subnet than that of the attempt.
func TestPartsThatCannotBeUsedAreNotUsed(t *testing.T) {
	f := newFixture(t, sim.Seed{FailedParts: []string{suffixNIC, suffixAddress}})
	p := f.connected(t, func(c *provider.Config) { c.Spec.Azure.PublicIP = true })
	s := cluster()[2]
	f.created(t, p, s)
	f.sound(t, s)
	f.deleted(t, p, s.MachineRef)
	f.addSubnet(t, "old")
	last, err := f.connected(t, func(c *provider.Config) { c.Spec.Azure.SubnetName = "old" }).Plan(t.Context(), s, provider.Attempt{})
	if err != nil {
		t.Fatal(err)
	}
	f.interfaceOf(t, s, last)
	f.created(t, p, s)
	f.sound(t, s)
}

// sound demands that interface and address of a machine have succeeded, in the subnet.
func (f *fixture) sound(t *testing.T, s provider.MachineSpec) {
	t.Helper()
	nic, err := f.admin.nics.Get(t.Context(), f.admin.spec.ResourceGroup, partName(s.Owner.ID, s.Name, suffixNIC), nil)
	if err != nil {
		t.Fatal(err)
	}
	address, err := f.admin.addresses.Get(t.Context(), f.admin.spec.ResourceGroup, partName(s.Owner.ID, s.Name, suffixAddress), nil)
	if err != nil {
		t.Fatal(err)
	}
	if failed(nic.Properties.ProvisioningState) || failed(address.Properties.ProvisioningState) || !strings.EqualFold(subnetOf(nic.Interface), f.admin.subnetID()) {
		t.Errorf("interface %s in %s, address %s", value(nic.Properties.ProvisioningState), subnetOf(nic.Interface), value(address.Properties.ProvisioningState))
	}
}

// interfaceOf creates the interface of an attempt that got no further.
func (f *fixture) interfaceOf(t *testing.T, s provider.MachineSpec, record string) {
	t.Helper()
	m := machines{f.admin}
	s.Attempt = record
	a, err := m.attempt(t.Context(), "", s)
	if err != nil {
		t.Fatal(err)
	}
	change, err := m.nics.BeginCreateOrUpdate(t.Context(), m.spec.ResourceGroup, partName(s.Owner.ID, s.Name, suffixNIC), m.wantedNIC(a, ownerTags(s.Owner, s.Name), ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = change.PollUntilDone(t.Context(), &runtime.PollUntilDoneOptions{Frequency: quick}) // it fails, which is what it is for
}

func (f *fixture) addSubnet(t *testing.T, name string) {
	t.Helper()
	change, err := f.admin.subnets.BeginCreateOrUpdate(t.Context(), f.admin.spec.ResourceGroup, f.admin.spec.VNetName, name, armnetwork.Subnet{Properties: &armnetwork.SubnetPropertiesFormat{AddressPrefix: new("10.40.128.0/24")}}, nil)
	if err := finished(t.Context(), change, err); err != nil {
		t.Fatal(err)
	}
}
