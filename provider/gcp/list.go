// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/provider"
)

// object is what a listing has: an instance, or else a disk.
type object struct {
	instance *computepb.Instance
	disk     *computepb.Disk
}

// List reports every machine of the owner, also those of which only disks or copies are
// left. It costs one request per kind and page.
func (m machines) List(ctx context.Context, owner provider.Owner) ([]provider.Machine, error) {
	op := "list machines on " + m.config
	if err := provider.CheckOwner(op, owner); err != nil {
		return nil, err
	}
	objects, err := m.objects(ctx, ownedBy(owner))
	if err != nil {
		return nil, within(op, err)
	}
	var found []provider.Machine
	for _, g := range provider.Assemble(objects, owner.Cluster) {
		if len(g.Objects)+len(g.Copies) > 0 {
			found = append(found, m.listed(g))
		}
	}
	return found, nil
}

// objects reads what the filter selects: disks first, so that the owner is that of the
// instance where there is one.
func (m machines) objects(ctx context.Context, filter string) (all []provider.Object[object], err error) {
	instances, err := m.listInstances(ctx, filter)
	if err != nil {
		return nil, err
	}
	disks, err := m.listDisks(ctx, filter)
	if err != nil {
		return nil, err
	}
	for _, d := range disks {
		part := provider.Part{Kind: provider.PartDisk, Name: d.GetName() + " in " + lastOf(d.GetZone())}
		all = append(all, provider.Object[object]{Part: part, Tags: tagsOf(d.GetLabels()), Copy: copied(d), Of: object{disk: d}})
	}
	for _, i := range instances {
		part := provider.Part{Kind: provider.PartMachine, Name: i.GetName() + " in " + lastOf(i.GetZone())}
		all = append(all, provider.Object[object]{Part: part, Tags: tagsOf(i.GetLabels()), Copy: !original(i), Of: object{instance: i}})
	}
	return all, nil
}

// listed reports one machine of a list, as Observe would.
func (m machines) listed(g provider.Group[object]) provider.Machine {
	one := provider.Machine{Ref: g.Ref, State: provider.StateAbsent}
	var left []*computepb.Disk
	var all []*computepb.Instance
	for _, o := range g.Objects {
		if o.Of.instance != nil {
			all = append(all, o.Of.instance)
		} else {
			left = append(left, o.Of.disk)
		}
	}
	if i := pick(all, g.Ref); i != nil {
		one = m.report(i, g.Ref)
	} else if len(left) > 0 {
		one = remnant(g.Ref, left)
	}
	one.Parts, one.Copies = g.Parts()
	return one
}
