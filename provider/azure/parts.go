// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"errors"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/provider"
)

// partInterface is the kind of network interfaces.
const partInterface = "network interface"

// part is a disk, an interface or an address that carries the tags of a machine.
type part struct {
	provider.Part
	tags map[string]*string
	// holder is the machine, or the interface, that it is attached to.
	holder   string
	deleting bool
	remove   func(context.Context) error
	// nic and address are what the part is, if it is no disk.
	nic     *armnetwork.Interface
	address *armnetwork.PublicIPAddress
}

// of reports whether the driver created the part for the owner's machine.
func (d part) of(ref provider.MachineRef) bool {
	return owned(d.tags, ref.Owner, ref.Name) && original(d.Name, ref.Owner, ref.Name)
}

// parts lists the disks, interfaces and addresses of machines in the resource group.
func (p *platform) parts(ctx context.Context) (all []part, err error) {
	nics, err := p.nicsIn(ctx)
	if err != nil {
		return nil, err
	}
	addresses, err := p.addressesIn(ctx)
	if err != nil {
		return nil, err
	}
	disks, err := drain(ctx, p.disks.NewListByResourceGroupPager(p.spec.ResourceGroup, nil), func(r armcompute.DisksClientListByResourceGroupResponse) []*armcompute.Disk { return r.Value })
	if err != nil {
		return nil, err
	}
	for _, d := range disks {
		all = append(all, p.diskPart(*d))
	}
	for _, n := range nics {
		all = append(all, p.nicPart(*n))
	}
	for _, a := range addresses {
		if !strings.HasSuffix(value(a.Name), suffixFrontend) {
			all = append(all, p.addressPart(*a))
		}
	}
	return all, nil
}

func (p *platform) nicsIn(ctx context.Context) ([]*armnetwork.Interface, error) {
	return drain(ctx, p.nics.NewListPager(p.spec.ResourceGroup, nil), func(r armnetwork.InterfacesClientListResponse) []*armnetwork.Interface { return r.Value })
}

func (p *platform) addressesIn(ctx context.Context) ([]*armnetwork.PublicIPAddress, error) {
	return drain(ctx, p.addresses.NewListPager(p.spec.ResourceGroup, nil), func(r armnetwork.PublicIPAddressesClientListResponse) []*armnetwork.PublicIPAddress { return r.Value })
}

func (p *platform) diskPart(d armcompute.Disk) part {
	out := part{Part: provider.Part{Kind: provider.PartDisk, Name: value(d.Name)}, tags: d.Tags, holder: value(d.ManagedBy)}
	if d.Properties != nil {
		out.deleting = value(d.Properties.ProvisioningState) == "Deleting"
	}
	out.remove = func(ctx context.Context) error {
		_, err := p.disks.BeginDelete(ctx, p.spec.ResourceGroup, value(d.Name), nil)
		return err
	}
	return out
}

func (p *platform) nicPart(n armnetwork.Interface) part {
	out := part{Part: provider.Part{Kind: partInterface, Name: value(n.Name)}, tags: n.Tags, deleting: deleting(n.Properties), nic: &n}
	if n.Properties != nil && n.Properties.VirtualMachine != nil {
		out.holder = value(n.Properties.VirtualMachine.ID)
	}
	out.remove = func(ctx context.Context) error {
		_, err := p.nics.BeginDelete(ctx, p.spec.ResourceGroup, value(n.Name), nil)
		return err
	}
	return out
}

func (p *platform) addressPart(a armnetwork.PublicIPAddress) part {
	out := part{Part: provider.Part{Kind: provider.PartAddress, Name: value(a.Name)}, tags: a.Tags, address: &a}
	if q := a.Properties; q != nil {
		out.deleting = value(q.ProvisioningState) == armnetwork.ProvisioningStateDeleting
		if q.IPConfiguration != nil {
			out.holder = value(q.IPConfiguration.ID)
		}
	}
	out.remove = func(ctx context.Context) error {
		_, err := p.addresses.BeginDelete(ctx, p.spec.ResourceGroup, value(a.Name), nil)
		return err
	}
	return out
}

// remains returns the parts that are left of a machine, as far as listings show them.
func (m machines) remains(ctx context.Context, ref provider.MachineRef) (left []part, err error) {
	all, err := m.remnants.Do(ctx, ref.Owner.ID)
	for _, d := range all {
		if d.of(ref) {
			left = append(left, d)
		}
	}
	return left, err
}

// certain adds to the parts that a listing shows those that it does not show yet: by the
// names that they have.
func (m machines) certain(ctx context.Context, ref provider.MachineRef, left []part) ([]part, error) {
	reads := map[string]func(name string) (part, error){
		suffixNIC: func(name string) (part, error) {
			n, err := m.nics.Get(ctx, m.spec.ResourceGroup, name, nil)
			return m.nicPart(n.Interface), err
		},
		suffixDisk: func(name string) (part, error) {
			d, err := m.disks.Get(ctx, m.spec.ResourceGroup, name, nil)
			return m.diskPart(d.Disk), err
		},
	}
	if m.spec.PublicIP {
		reads[suffixAddress] = func(name string) (part, error) {
			a, err := m.addresses.Get(ctx, m.spec.ResourceGroup, name, nil)
			return m.addressPart(a.PublicIPAddress), err
		}
	}
	for suffix, get := range reads {
		name := partName(ref.Owner.ID, ref.Name, suffix)
		found, err := get(name)
		if gone(err) {
			continue
		}
		if err != nil {
			return left, err
		}
		if found.of(ref) && !contains(left, found) {
			left = append(left, found)
		}
	}
	return left, nil
}

func contains(all []part, one part) bool {
	for _, d := range all {
		if d.Part == one.Part {
			return true
		}
	}
	return false
}

// remnant reports a machine of which only parts are there.
func remnant(ref provider.MachineRef, left []part) provider.Machine {
	return provider.Machine{Ref: ref, State: provider.StatePartial, Message: "there is no virtual machine, but " + left[0].Kind + " " + left[0].Name}
}

// sweep removes what is left of a machine without a virtual machine, and reports what
// there was. A part that Azure keeps does not block the others.
func (m machines) sweep(ctx context.Context, op string, ref provider.MachineRef) ([]part, error) {
	left, err := m.remains(ctx, ref)
	if err == nil {
		left, err = m.certain(ctx, ref, left)
	}
	if err != nil {
		return nil, apiError(op, err)
	}
	var kept []error
	for _, d := range left {
		if d.deleting || d.holder != "" {
			continue
		}
		if err := apiError(op, d.remove(ctx)); err != nil && !busy(err) && provider.ReasonOf(err) != provider.ReasonNotFound {
			kept = append(kept, err)
		}
	}
	return left, errors.Join(kept...)
}
