// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/provider/providertest"
)

// quick is how often the administrator asks.
const quick = 20 * time.Millisecond

// operator sees and changes the simulated subscription as its administrator does. Faults
// are the simulator's.
type operator struct{ *fixture }

// CreateConflict implements providertest.Operator.
func (o operator) CreateConflict(ctx context.Context, name string) error {
	return o.run(ctx, name, nil)
}

// run creates a machine as the portal does, with parts of its own names.
func (o operator) run(ctx context.Context, name string, tags map[string]*string) error {
	a := o.admin
	at, err := a.location(ctx)
	if err != nil {
		return err
	}
	nic, err := a.nics.BeginCreateOrUpdate(ctx, a.spec.ResourceGroup, name+"-nic", armnetwork.Interface{Location: &at, Tags: tags, Properties: &armnetwork.InterfacePropertiesFormat{
		IPConfigurations: []*armnetwork.InterfaceIPConfiguration{{Name: new("ipconfig1"), Properties: &armnetwork.InterfaceIPConfigurationPropertiesFormat{
			Subnet: &armnetwork.Subnet{ID: new(a.subnetID())}, PrivateIPAllocationMethod: new(armnetwork.IPAllocationMethodDynamic),
		}}},
	}}, nil)
	if err := finished(ctx, nic, err); err != nil {
		return err
	}
	key, err := a.key()
	if err != nil {
		return err
	}
	image := fmt.Sprintf("/CommunityGalleries/%s/Images/talos-x64/Versions/%s", talosGallery, strings.TrimPrefix(talosVersion, "v"))
	vm, err := a.vms.BeginCreateOrUpdate(ctx, a.spec.ResourceGroup, name, armcompute.VirtualMachine{Location: &at, Tags: tags, Properties: &armcompute.VirtualMachineProperties{
		HardwareProfile: &armcompute.HardwareProfile{VMSize: new(armcompute.VirtualMachineSizeTypes("Standard_D2s_v5"))},
		StorageProfile: &armcompute.StorageProfile{ImageReference: referenceOf(image), OSDisk: &armcompute.OSDisk{
			Name: new(name + "-osdisk"), CreateOption: new(armcompute.DiskCreateOptionTypesFromImage), DeleteOption: new(armcompute.DiskDeleteOptionTypesDelete),
		}},
		OSProfile: &armcompute.OSProfile{ComputerName: &name, AdminUsername: new("operator"), LinuxConfiguration: &armcompute.LinuxConfiguration{
			DisablePasswordAuthentication: new(true), SSH: &armcompute.SSHConfiguration{PublicKeys: []*armcompute.SSHPublicKey{{Path: new("/home/operator/.ssh/authorized_keys"), KeyData: &key}}},
		}},
		NetworkProfile: &armcompute.NetworkProfile{NetworkInterfaces: []*armcompute.NetworkInterfaceReference{{
			ID: new(a.resource(kindNIC, name+"-nic")), Properties: &armcompute.NetworkInterfaceReferenceProperties{Primary: new(true), DeleteOption: new(armcompute.DeleteOptionsDelete)},
		}}},
	}}, nil)
	return finished(ctx, vm, err)
}

// Clone implements providertest.Operator: what a restore from a backup creates has all tags.
func (o operator) Clone(ctx context.Context, name, as string) (func(), error) {
	of, err := o.admin.vms.Get(ctx, o.admin.spec.ResourceGroup, name, nil)
	if err != nil {
		return nil, err
	}
	if err := o.run(ctx, as, of.Tags); err != nil {
		return nil, err
	}
	return func() {
		_, _ = o.admin.vms.BeginDelete(context.WithoutCancel(ctx), o.admin.spec.ResourceGroup, as, nil) // what is left is seen by the next look
	}, nil
}

// Inspect implements providertest.Operator.
func (o operator) Inspect(ctx context.Context, name string) (s providertest.View, err error) {
	a := o.admin
	vm, err := a.vms.Get(ctx, a.spec.ResourceGroup, name, &armcompute.VirtualMachinesClientGetOptions{Expand: new(armcompute.InstanceViewTypesInstanceView)})
	if err == nil {
		seen, err := o.seen(ctx, vm.VirtualMachine)
		if err != nil {
			return s, err
		}
		s.Machines = append(s.Machines, seen)
	} else if !gone(err) {
		return s, err
	}
	parts, err := a.parts(ctx)
	for _, d := range parts {
		if strings.HasPrefix(d.Name, name+"-") {
			s.Parts = append(s.Parts, d.Name)
		}
	}
	return s, err
}

func (o operator) seen(ctx context.Context, vm armcompute.VirtualMachine) (s providertest.MachineState, err error) {
	tags := tagMap(vm.Tags)
	s = providertest.MachineState{ID: value(vm.Properties.VMID), Owner: tags["butler-owner-id"], Labels: tags, Version: fmt.Sprint(tags, sizeNameOf(vm), powerOf(vm))}
	sizes, err := o.admin.catalogue(ctx)
	if err != nil {
		return s, err
	}
	for _, one := range sizes {
		if one.Name == sizeNameOf(vm) {
			s.CPU, s.MemoryMB = one.CPU, one.MemoryMB
		}
	}
	if disk := vm.Properties.StorageProfile.OSDisk; disk != nil {
		s.DiskGB = value(disk.DiskSizeGB)
	}
	for _, d := range vm.Properties.StorageProfile.DataDisks {
		s.ExtraDisksGB = append(s.ExtraDisksGB, value(d.DiskSizeGB))
	}
	s.UserData, err = o.bootedWith(ctx, value(vm.Name), powerOf(vm))
	return s, err
}

// bootedWith waits until a machine that is not off has read its user data, which Azure
// does not show.
func (o operator) bootedWith(ctx context.Context, name, power string) (string, error) {
	for range 500 {
		if text, booted := o.UserData(name); booted || power == "deallocated" || power == "stopped" {
			return text, nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(quick):
		}
	}
	return "", errors.New("machine " + name + " does not boot")
}

// InspectBalancers implements providertest.LoadBalancerOperator.
func (o operator) InspectBalancers(ctx context.Context, name string) (s providertest.BalancerView, err error) {
	a := o.admin
	group, err := a.groups.Get(ctx, a.spec.ResourceGroup, a.spec.SecurityGroupName, nil)
	if err != nil {
		return s, err
	}
	var clients []string
	for _, r := range group.Properties.SecurityRules {
		if !strings.HasPrefix(value(r.Name), name+"-") {
			continue
		}
		s.Parts = append(s.Parts, value(r.Name))
		if sources := sourcesOf(r.Properties); value(r.Properties.Access) == armnetwork.SecurityRuleAccessAllow && !slices.Contains(sources, fromInternet) {
			clients = sources
		}
	}
	addresses, err := a.addressesIn(ctx)
	if err != nil {
		return s, err
	}
	for _, one := range addresses {
		if strings.HasPrefix(value(one.Name), name+"-") {
			s.Parts = append(s.Parts, value(one.Name))
		}
	}
	lb, err := a.balancers.Get(ctx, a.spec.ResourceGroup, name, nil)
	if err != nil {
		return s, unlessGone(err)
	}
	s.Balancers = append(s.Balancers, o.seenBalancer(lb.LoadBalancer, clients))
	return s, nil
}

func (o operator) seenBalancer(lb armnetwork.LoadBalancer, clients []string) providertest.BalancerState {
	s := providertest.BalancerState{Owner: tagsOf(lb.Tags).OwnerID, AllowedCIDRs: clients}
	for _, r := range lb.Properties.LoadBalancingRules {
		s.Ports = append(s.Ports, value(r.Properties.FrontendPort))
	}
	if len(s.Ports) > 0 {
		s.Port = slices.Min(s.Ports)
	}
	found := balancer{lb: &lb}
	for _, id := range found.members() {
		nic, err := o.admin.nics.Get(context.Background(), o.admin.spec.ResourceGroup, last(id), nil)
		if err != nil || nic.Properties.VirtualMachine == nil {
			s.Targets = append(s.Targets, "unknown "+strconv.Itoa(len(s.Targets)))
			continue
		}
		s.Targets = append(s.Targets, o.admin.resource(kindVM, last(value(nic.Properties.VirtualMachine.ID))))
	}
	return s
}
