// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package inventory lists what a platform holds of a cluster.
package inventory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/provider"
)

// Inventory is everything that the platform holds of one or more clusters.
type Inventory []provider.Holding

// Take lists what the platform holds of the owner.
func Take(ctx context.Context, p provider.Platform, o provider.Owner) (Stock, error) {
	all, err := p.Holdings(ctx, o)
	if err != nil {
		return Stock{}, err
	}
	var s Stock
	for _, h := range all {
		s.Copies.add(h)
		if h.State != provider.StateAbsent {
			s.Held = append(s.Held, h)
		}
	}
	return s, nil
}

// ByCluster groups what the platform holds by the id of its cluster.
func (i Inventory) ByCluster() map[string]Inventory {
	out := map[string]Inventory{}
	for _, h := range i {
		out[h.Owner.ClusterID] = append(out[h.Owner.ClusterID], h)
	}
	return out
}

// OfCluster separates the objects of a cluster from those with its id and the name of
// another one.
func (i Inventory) OfCluster(cluster string) (ours, foreign Inventory) {
	for _, h := range i {
		if h.Owner.Cluster == "" || h.Owner.Cluster == cluster {
			ours = append(ours, h)
		} else {
			foreign = append(foreign, h)
		}
	}
	return ours, foreign
}

// Parts returns all parts of all holdings.
func (i Inventory) Parts() (out []provider.Part) {
	for _, h := range i {
		out = append(out, h.Parts...)
	}
	return out
}

// Names lists all parts, each with its kind.
func (i Inventory) Names() string {
	var out []string
	for _, p := range i.Parts() {
		out = append(out, p.Kind+" "+p.Name)
	}
	return strings.Join(out, ", ")
}

// CountByKind counts parts by kind, for example "6 machines, 9 disks".
func CountByKind(parts []provider.Part) string {
	count := map[string]int{}
	for _, p := range parts {
		count[p.Kind]++
	}
	var out []string
	for _, kind := range kindsOf(count) {
		out = append(out, counted(count[kind], kind))
	}
	return strings.Join(out, ", ")
}

// Contents describes the parts of a holding, for example "machine, 2 disks".
func Contents(parts []provider.Part) string {
	count := map[string]int{}
	for _, p := range parts {
		count[p.Kind]++
	}
	var out []string
	for _, kind := range kindsOf(count) {
		text := kind
		if n := count[kind]; n > 1 {
			text = counted(n, kind)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// kindsOf returns the counted kinds, machines and their parts first.
func kindsOf(count map[string]int) []string {
	return slices.SortedFunc(maps.Keys(count), provider.ComparePartKinds)
}

func counted(n int, kind string) string {
	switch {
	case n == 1:
		return "1 " + kind
	case strings.HasSuffix(kind, "s"):
		return fmt.Sprintf("%d %ses", n, kind)
	}
	return fmt.Sprintf("%d %ss", n, kind)
}
