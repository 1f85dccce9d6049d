// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/provider"
)

// createNIC creates the interface unless it is there. One in another subnet is deleted and
// created again; one that has failed, or is not as the attempt asks, is written again.
func (m machines) createNIC(ctx context.Context, s provider.MachineSpec, a attempt, tags map[string]string, address string) error {
	name := partName(s.Owner.ID, s.Name, suffixNIC)
	want := m.wantedNIC(a, tags, address)
	found, err := m.nics.Get(ctx, m.spec.ResourceGroup, name, nil)
	switch {
	case gone(err):
	case err != nil:
		return err
	case !owned(found.Tags, s.Owner, s.Name):
		return provider.NameTaken("", "network interface "+name, "machineName")
	case deleting(found.Properties):
		return provider.PartDeleting("", "network interface "+name)
	case machineOf(found.Interface) != "":
		return m.attached(s, name, machineOf(found.Interface))
	case !strings.EqualFold(subnetOf(found.Interface), subnetOf(want)):
		return m.removeNIC(ctx, name)
	case fits(found.Interface, want):
		return nil
	default:
		ctx = unchanged(ctx, found.Etag)
	}
	_, err = m.nics.BeginCreateOrUpdate(ctx, m.spec.ResourceGroup, name, want, nil)
	return err
}

// wantedNIC is the interface of an attempt.
func (m machines) wantedNIC(a attempt, tags map[string]string, address string) armnetwork.Interface {
	ip := &armnetwork.InterfaceIPConfigurationPropertiesFormat{
		Primary: new(true), PrivateIPAllocationMethod: new(armnetwork.IPAllocationMethodDynamic), Subnet: &armnetwork.Subnet{ID: &a.Subnet},
	}
	if address != "" {
		ip.PublicIPAddress = &armnetwork.PublicIPAddress{ID: &address, Properties: &armnetwork.PublicIPAddressPropertiesFormat{DeleteOption: new(armnetwork.DeleteOptionsDelete)}}
	}
	return armnetwork.Interface{Location: &a.Location, Tags: written(tags), Properties: &armnetwork.InterfacePropertiesFormat{
		NetworkSecurityGroup: &armnetwork.SecurityGroup{ID: new(m.resource(kindGroup, m.spec.SecurityGroupName))},
		IPConfigurations:     []*armnetwork.InterfaceIPConfiguration{{Name: new("primary"), Properties: ip}},
	}}
}

// fits reports whether an interface can be used as it is.
func fits(found, want armnetwork.Interface) bool {
	return !failed(value(found.Properties).ProvisioningState) && strings.EqualFold(groupOf(found), groupOf(want)) && strings.EqualFold(addressOf(found), addressOf(want))
}

// attached accepts an interface that the machine itself has: a listing may not show the
// machine yet.
func (m machines) attached(s provider.MachineSpec, name, to string) error {
	if strings.EqualFold(to, m.resource(kindVM, s.Name)) {
		return nil
	}
	return provider.Conflict.New("", provider.ReasonNameTaken, fmt.Errorf("network interface %s is attached to %s", name, to), "detach it, or delete what it is attached to")
}

func (m machines) removeNIC(ctx context.Context, name string) error {
	if _, err := m.nics.BeginDelete(ctx, m.spec.ResourceGroup, name, nil); err != nil && !gone(err) {
		return err
	}
	return provider.PartDeleting("", "network interface "+name)
}

func failed(state *armnetwork.ProvisioningState) bool {
	return value(state) == armnetwork.ProvisioningStateFailed
}

func deleting(nic *armnetwork.InterfacePropertiesFormat) bool {
	return nic != nil && value(nic.ProvisioningState) == armnetwork.ProvisioningStateDeleting
}

func machineOf(nic armnetwork.Interface) string {
	return value(value(value(nic.Properties).VirtualMachine).ID)
}

func groupOf(nic armnetwork.Interface) string {
	return value(value(value(nic.Properties).NetworkSecurityGroup).ID)
}

func subnetOf(nic armnetwork.Interface) string {
	for _, c := range value(nic.Properties).IPConfigurations {
		if c.Properties != nil && c.Properties.Subnet != nil {
			return value(c.Properties.Subnet.ID)
		}
	}
	return ""
}
