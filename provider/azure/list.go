// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/provider"
)

// object is what a listing has: a virtual machine, or else a part of one.
type object struct {
	vm   *armcompute.VirtualMachine
	part part
}

// inventory is all that the resource group holds for machines.
type inventory struct {
	objects   []provider.Object[object]
	nics      map[string]*armnetwork.Interface       // by id in lower case
	addresses map[string]*armnetwork.PublicIPAddress // by id in lower case
}

// List reports every machine of the owner, also those of which only parts or copies are
// left. It costs one request per kind and page.
func (m machines) List(ctx context.Context, owner provider.Owner) ([]provider.Machine, error) {
	op := "list machines on " + m.config
	if err := provider.CheckOwner(op, owner); err != nil {
		return nil, err
	}
	all, err := m.inventory(ctx, true)
	if err != nil {
		return nil, apiError(op, err)
	}
	var found []provider.Machine
	for _, g := range provider.Assemble(all.objects, owner.Cluster) {
		if g.Ref.Owner.Matches(provider.Owner{ID: owner.ID, ClusterID: owner.ClusterID}) && len(g.Objects)+len(g.Copies) > 0 {
			one := m.assembled(g, all)
			one.Parts, one.Copies = g.Parts()
			found = append(found, one)
		}
	}
	return found, nil
}

// inventory lists machines and their parts: parts first, so that the owner is that of the
// machine where there is one. Azure selects by no tag.
func (m machines) inventory(ctx context.Context, sets bool) (all inventory, err error) {
	vms, err := m.withStatus(ctx)
	if err != nil {
		return all, err
	}
	parts, err := m.parts(ctx)
	if err != nil {
		return all, err
	}
	for _, d := range parts {
		owner := provider.OwnerOf(tagsOf(d.tags))
		all.add(d.Part, d.tags, !original(d.Name, owner, tagsOf(d.tags).Machine), object{part: d})
	}
	for _, vm := range vms {
		name := value(vm.Name)
		all.add(provider.Part{Kind: provider.PartMachine, Name: name}, vm.Tags, !strings.EqualFold(name, tagsOf(vm.Tags).Machine), object{vm: vm})
	}
	if sets {
		err = m.addSets(ctx, &all)
	}
	all.nics, all.addresses = byID(parts)
	return all, err
}

// add adds an object that carries an owner.
func (i *inventory) add(name provider.Part, tags map[string]*string, copied bool, of object) {
	if set := tagsOf(tags); set.OwnerID != "" {
		i.objects = append(i.objects, provider.Object[object]{Part: name, Tags: set, Copy: copied, Of: of})
	}
}

// addSets adds the availability sets that no machine is in any more.
func (m machines) addSets(ctx context.Context, all *inventory) error {
	sets, err := m.emptySets(ctx)
	for _, s := range sets {
		d := part{Part: provider.Part{Kind: partSet, Name: value(s.Name)}, tags: s.Tags}
		all.add(d.Part, d.tags, false, object{part: d})
	}
	return err
}

func byID(parts []part) (nics map[string]*armnetwork.Interface, addresses map[string]*armnetwork.PublicIPAddress) {
	nics, addresses = map[string]*armnetwork.Interface{}, map[string]*armnetwork.PublicIPAddress{}
	for _, d := range parts {
		if d.nic != nil {
			nics[strings.ToLower(value(d.nic.ID))] = d.nic
		}
		if d.address != nil {
			addresses[strings.ToLower(value(d.address.ID))] = d.address
		}
	}
	return nics, addresses
}

// withStatus lists the machines of the resource group with their run time status, which
// Azure lists for the subscription.
func (m machines) withStatus(ctx context.Context) ([]*armcompute.VirtualMachine, error) {
	vms, err := m.vmsIn(ctx)
	if err != nil || len(vms) == 0 {
		return nil, err
	}
	pages := m.vms.NewListAllPager(&armcompute.VirtualMachinesClientListAllOptions{StatusOnly: new("true")})
	all, err := drain(ctx, pages, func(r armcompute.VirtualMachinesClientListAllResponse) []*armcompute.VirtualMachine { return r.Value })
	if err != nil {
		return nil, err
	}
	views := map[string]*armcompute.VirtualMachineInstanceView{}
	for _, vm := range all {
		if vm.Properties != nil {
			views[strings.ToLower(value(vm.ID))] = vm.Properties.InstanceView
		}
	}
	for _, vm := range vms {
		if vm.Properties != nil {
			vm.Properties.InstanceView = views[strings.ToLower(value(vm.ID))]
		}
	}
	return vms, nil
}

// assembled reports one machine of a list, as Observe would.
func (m machines) assembled(g provider.Group[object], all inventory) provider.Machine {
	var left []part
	for _, o := range g.Objects {
		if o.Of.vm == nil {
			left = append(left, o.Of.part)
			continue
		}
		r := m.reported(*o.Of.vm, g.Ref)
		if r.State != provider.StateRunning {
			return r
		}
		nic := all.nics[strings.ToLower(nicOf(*o.Of.vm))]
		if nic == nil {
			return addressed(r, nil, nil)
		}
		return addressed(r, nic, all.addresses[strings.ToLower(addressOf(*nic))])
	}
	if len(left) > 0 {
		return remnant(g.Ref, left)
	}
	return provider.Machine{Ref: g.Ref, State: provider.StateAbsent}
}
