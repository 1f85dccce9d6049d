// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package inventory lists what a platform holds of a cluster.
package inventory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/provider"
)

// The kinds of parts that a request is named after.
const (
	partMachine  = "machine"
	partBalancer = "load balancer"
)

// Holding is the machine or load balancer of one request on the platform.
type Holding struct {
	Name  string
	Owner provider.Owner
	State provider.State
	Parts []provider.Part
	// ID and Addresses are the platform's.
	ID        string
	Addresses []string
	// Balancer is true for a load balancer, and false for a machine.
	Balancer bool
}

// Inventory is everything that the platform holds of one or more clusters.
type Inventory []Holding

// Take lists what the platform holds of the owner.
func Take(ctx context.Context, p provider.Platform, o provider.Owner) (Stock, error) {
	var out Inventory
	var copied Copies
	machines, err := p.Machines.List(ctx, o)
	if err != nil {
		return Stock{}, err
	}
	for _, m := range machines {
		copied.add(m)
		if m.State == provider.StateAbsent {
			continue // only copies
		}
		h := Holding{Name: m.Ref.Name, Owner: m.Ref.Owner, State: m.State, ID: m.ID, Parts: orItself(m.Parts, partMachine, m.Ref.Name)}
		for _, a := range m.Addresses {
			h.Addresses = append(h.Addresses, a.String())
		}
		out = append(out, h)
	}
	if p.LoadBalancers == nil {
		return Stock{out.sorted(), copied}, nil
	}
	balancers, err := p.LoadBalancers.List(ctx, o)
	if err != nil {
		return Stock{}, err
	}
	for _, b := range balancers {
		h := Holding{Name: b.Ref.Name, Owner: b.Ref.Owner, State: b.State, ID: b.ID, Parts: orItself(b.Parts, partBalancer, b.Ref.Name), Balancer: true}
		if b.Endpoint != "" {
			h.Addresses = []string{b.Endpoint}
		}
		out = append(out, h)
	}
	return Stock{out.sorted(), copied}, nil
}

// orItself returns the parts that a driver reports, or else one part for the object
// itself.
func orItself(parts []provider.Part, kind, name string) []provider.Part {
	if len(parts) > 0 {
		return parts
	}
	return []provider.Part{{Kind: kind, Name: name}}
}

func (i Inventory) sorted() Inventory {
	slices.SortFunc(i, func(a, b Holding) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Owner.ID, b.Owner.ID))
	})
	return i
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
	order := []string{partMachine, "disk", "secret", "address", partBalancer}
	rank := func(kind string) int {
		if i := slices.Index(order, kind); i >= 0 {
			return i
		}
		return len(order)
	}
	return slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(rank(a)-rank(b), strings.Compare(a, b))
	})
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
