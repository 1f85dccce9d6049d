// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"context"
	"fmt"
	"slices"

	"github.com/butlerdotdev/butler/provider"
)

// List reports every machine of the owner, also those of which only copies are left, and the
// category of a cluster without VMs. It reads all VMs: the API v3 has no filter for
// descriptions. Categories are read first, as they are created first.
func (m machines) List(ctx context.Context, owner provider.Owner) ([]provider.Machine, error) {
	op := "list machines on " + m.config
	if err := provider.CheckOwner(op, owner); err != nil {
		return nil, err
	}
	categories, err := m.scopes(ctx, owner)
	if err != nil {
		return nil, within(op, err)
	}
	all, err := m.listVMs(ctx, "")
	if err != nil {
		return nil, within(op, err)
	}
	found := unused(categories, all)
	wanted := provider.Owner{ID: owner.ID, ClusterID: owner.ClusterID}
	all = slices.DeleteFunc(all, func(v vm) bool { return !provider.OwnerOf(tagsOf(v)).Matches(wanted) })
	origins, err := m.origins(ctx, all)
	if err != nil {
		return nil, within(op, err)
	}
	for _, g := range groupsOf(all, origins, owner.Cluster) {
		found = append(found, m.listed(g))
	}
	return found, nil
}

// groupsOf groups VMs by the machine that they were created for, or copied from. The machine is
// the recorded VM, or without a record the oldest.
func groupsOf(all []vm, origins map[string]string, cluster string) []provider.Group[vm] {
	first := map[provider.MachineRef]vm{}
	for _, v := range all {
		if at, known := first[refOf(v)]; original(v) && (!known || older(v, at)) {
			first[refOf(v)] = v
		}
	}
	var objects []provider.Object[vm]
	for _, v := range all {
		ref := refOf(v)
		uuid, recorded := origins[originOf(ref.Owner.ID, ref.Name)]
		if !recorded {
			uuid = first[ref].uuid
		}
		part := provider.Part{Kind: provider.PartMachine, Name: fmt.Sprintf("%s (%s)", v.name, v.uuid)}
		objects = append(objects, provider.Object[vm]{Part: part, Tags: tagsOf(v), Copy: uuid != v.uuid, Of: v})
	}
	return provider.Assemble(objects, cluster)
}

// refOf names the machine that a VM was created for, or copied from. The name of the cluster
// decides nothing.
func refOf(v vm) provider.MachineRef {
	set := tagsOf(v)
	return provider.MachineRef{Name: set.Machine, Owner: provider.Owner{ID: set.OwnerID}}
}

// listed reports one machine of a list, as Observe would.
func (m machines) listed(g provider.Group[vm]) provider.Machine {
	one := provider.Machine{Ref: g.Ref, State: provider.StateAbsent}
	for _, o := range g.Objects {
		one = m.report(o.Of, g.Ref)
	}
	one.Parts, one.Copies = g.Parts()
	return one
}
