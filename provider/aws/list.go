// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/provider"
)

// object is what a listing has: an instance, or else a part of one.
type object struct {
	instance *types.Instance
	part     part
}

// List reports every machine of the owner, also those of which only disks, interfaces or
// copies are left. It costs one request per kind and page.
func (m machines) List(ctx context.Context, owner provider.Owner) ([]provider.Machine, error) {
	op := "list machines on " + m.config
	if err := provider.CheckOwner(op, owner); err != nil {
		return nil, err
	}
	objects, err := m.objects(ctx, ownedBy(owner))
	if err != nil {
		return nil, apiError(op, err)
	}
	var found []provider.Machine
	for _, g := range provider.Assemble(objects, owner.Cluster) {
		if len(g.Objects)+len(g.Copies) > 0 {
			found = append(found, m.listed(ctx, g))
		}
	}
	return found, nil
}

// objects reads what the filters select: parts first, so that the owner is that of the
// instance where there is one. Load balancers have tags as well, but no machine's.
func (m machines) objects(ctx context.Context, filters []types.Filter) (all []provider.Object[object], err error) {
	instances, err := m.instances(ctx, filters...)
	if err != nil {
		return nil, err
	}
	parts, err := m.parts(ctx, filters...)
	if err != nil {
		return nil, err
	}
	holders := map[string]bool{}
	for _, i := range instances {
		holders[value(i.InstanceId)] = own(i, provider.OwnerOf(tagsOf(i.Tags)))
	}
	for _, d := range parts {
		all = append(all, provider.Object[object]{Part: labelled(d), Tags: tagsOf(d.tags), Copy: d.copied(holders), Of: object{part: d}})
	}
	for _, i := range instances {
		if terminated(i) {
			continue
		}
		name := provider.Part{Kind: provider.PartMachine, Name: label(value(i.InstanceId), i.Tags)}
		all = append(all, provider.Object[object]{Part: name, Tags: tagsOf(i.Tags), Copy: !holders[value(i.InstanceId)], Of: object{instance: &i}})
	}
	return all, nil
}

func labelled(d part) provider.Part {
	return provider.Part{Kind: d.Kind, Name: label(d.Name, d.tags)}
}

// label is how people find an object: by its name and its id.
func label(id string, tags []types.Tag) string {
	if name := tagMap(tags)[tagName]; name != "" {
		return name + " (" + id + ")"
	}
	return id
}

// listed reports one machine of a list, as Observe would.
func (m machines) listed(ctx context.Context, g provider.Group[object]) provider.Machine {
	one := provider.Machine{Ref: g.Ref, State: provider.StateAbsent}
	var left []part
	var all []types.Instance
	for _, o := range g.Objects {
		if o.Of.instance != nil {
			all = append(all, *o.Of.instance)
		} else {
			left = append(left, o.Of.part)
		}
	}
	if i, ok := pick(all, g.Ref.Owner); ok {
		one = m.examine(ctx, i, g.Ref)
	} else if len(left) > 0 {
		one = remnant(g.Ref, left)
	}
	one.Parts, one.Copies = g.Parts()
	return one
}
