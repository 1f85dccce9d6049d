// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"cmp"
	"slices"

	"github.com/butlerdotdev/butler/provider/tag"
)

// Object is one object of a platform's listing, as the platform's own type T.
type Object[T any] struct {
	// Part is how people see it. An object without a Kind is no part of a machine: the
	// platform creates and removes it by itself.
	Part Part
	Tags tag.Set
	// Copy says that the driver did not create it: platforms copy tags to clones and
	// restored backups.
	Copy bool
	Of   T
}

// Group is all that a platform holds under the tags of one machine, or load balancer.
type Group[T any] struct {
	Ref     MachineRef
	Objects []Object[T]
	Copies  []Object[T]
}

// Assemble groups the objects of a listing by the machine that they were created for, or
// copied from, in a fixed order. What has no owner is left out. If cluster is set, only
// groups are returned of which an object carries this name of a cluster: a platform
// selects by the ids, which every object has.
func Assemble[T any](objects []Object[T], cluster string) []Group[T] {
	groups := map[[2]string]*Group[T]{}
	named := map[[2]string]bool{}
	for _, o := range objects {
		key := [2]string{o.Tags.OwnerID, o.Tags.Machine}
		if groups[key] == nil {
			groups[key] = &Group[T]{Ref: MachineRef{Name: o.Tags.Machine}}
		}
		groups[key].add(o)
		named[key] = named[key] || o.Tags.Cluster == cluster
	}
	var all []Group[T]
	for key, g := range groups {
		if g.Ref.Owner.ID != "" && (cluster == "" || named[key]) {
			all = append(all, *g)
		}
	}
	slices.SortFunc(all, func(a, b Group[T]) int {
		return cmp.Or(cmp.Compare(a.Ref.Owner.ID, b.Ref.Owner.ID), cmp.Compare(a.Ref.Name, b.Ref.Name))
	})
	return all
}

// add takes the owner from the last part, from a copy only while there is no part. The
// name of the cluster may be on one of the parts alone.
func (g *Group[T]) add(o Object[T]) {
	switch {
	case o.Copy:
		g.Copies = append(g.Copies, o)
	default:
		g.Objects = append(g.Objects, o)
	}
	if o.Part.Kind == "" || o.Copy && g.Ref.Owner.ID != "" {
		return
	}
	known := g.Ref.Owner.Cluster
	g.Ref.Owner = OwnerOf(o.Tags)
	g.Ref.Owner.Cluster = cmp.Or(g.Ref.Owner.Cluster, known)
}

// Parts returns parts and copies for people, the machine first.
func (g *Group[T]) Parts() (parts, copies []Part) { return partsOf(g.Objects), partsOf(g.Copies) }

func partsOf[T any](objects []Object[T]) (all []Part) {
	for _, o := range objects {
		if o.Part.Kind != "" {
			all = append(all, o.Part)
		}
	}
	slices.SortFunc(all, compareParts)
	return all
}
