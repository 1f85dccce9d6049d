// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/provider"
)

// The kinds of parts that a request is named after.
const (
	partMachine  = "machine"
	partBalancer = "load balancer"
)

// holding is what the platform holds for one request.
type holding struct {
	name  string
	owner provider.Owner
	state provider.State
	parts []provider.Part
	// id and addresses are the platform's.
	id        string
	addresses []string
	// balancer says that it is a load balancer, and no machine.
	balancer bool
}

// inventory is all that the platform holds of a cluster, or of several.
type inventory []holding

// takeInventory asks the platform what it holds of the owner.
func takeInventory(ctx context.Context, p provider.Platform, o provider.Owner) (stock, error) {
	var out inventory
	var copied copies
	machines, err := p.Machines.List(ctx, o)
	if err != nil {
		return stock{}, err
	}
	for _, m := range machines {
		copied.add(m)
		if m.State == provider.StateAbsent {
			continue // nothing but copies
		}
		h := holding{name: m.Ref.Name, owner: m.Ref.Owner, state: m.State, id: m.ID, parts: orItself(m.Parts, partMachine, m.Ref.Name)}
		for _, a := range m.Addresses {
			h.addresses = append(h.addresses, a.String())
		}
		out = append(out, h)
	}
	if p.LoadBalancers == nil {
		return stock{out.sorted(), copied}, nil
	}
	balancers, err := p.LoadBalancers.List(ctx, o)
	if err != nil {
		return stock{}, err
	}
	for _, b := range balancers {
		h := holding{name: b.Ref.Name, owner: b.Ref.Owner, state: b.State, id: b.ID, parts: orItself(b.Parts, partBalancer, b.Ref.Name), balancer: true}
		if b.Endpoint != "" {
			h.addresses = []string{b.Endpoint}
		}
		out = append(out, h)
	}
	return stock{out.sorted(), copied}, nil
}

// orItself are the parts that a driver tells, or else the thing itself: what was
// listed is never nothing.
func orItself(parts []provider.Part, kind, name string) []provider.Part {
	if len(parts) > 0 {
		return parts
	}
	return []provider.Part{{Kind: kind, Name: name}}
}

func (i inventory) sorted() inventory {
	slices.SortFunc(i, func(a, b holding) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.owner.ID, b.owner.ID))
	})
	return i
}

// byCluster groups what the platform holds by the id of its cluster.
func (i inventory) byCluster() map[string]inventory {
	out := map[string]inventory{}
	for _, h := range i {
		out[h.owner.ClusterID] = append(out[h.owner.ClusterID], h)
	}
	return out
}

// of tells what a cluster has from what stands under its id with the name of
// another one.
func (i inventory) of(cluster string) (ours, strangers inventory) {
	for _, h := range i {
		if h.owner.Cluster == "" || h.owner.Cluster == cluster {
			ours = append(ours, h)
		} else {
			strangers = append(strangers, h)
		}
	}
	return ours, strangers
}

func (i inventory) parts() (out []provider.Part) {
	for _, h := range i {
		out = append(out, h.parts...)
	}
	return out
}

// names are all parts, each with its kind.
func (i inventory) names() string {
	var out []string
	for _, p := range i.parts() {
		out = append(out, p.Kind+" "+p.Name)
	}
	return strings.Join(out, ", ")
}

// split counts parts by kind, for example "6 machines, 9 disks".
func split(parts []provider.Part) string {
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

// contents is what a holding consists of, for example "machine, 2 disks".
func contents(parts []provider.Part) string {
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

// kindsOf are the kinds that were counted, machines and what they consist of
// first.
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

// row is a line of the table of what will go.
type row struct{ name, state, holds string }

const (
	// nameColumns is how much of a name is shown.
	nameColumns = 44
	// nothingYet is a request that the platform has nothing for.
	nothingYet = "nothing on the platform"
)

// rows has a line for each holding, and one for each request that has none.
func (i inventory) rows(requests map[string]asked) (out []row) {
	waiting := maps.Clone(requests)
	for _, h := range i {
		delete(waiting, h.owner.ID)
		out = append(out, row{h.name, string(h.state), contents(h.parts)})
	}
	for _, r := range slices.SortedFunc(maps.Values(waiting), func(a, b asked) int { return strings.Compare(a.name, b.name) }) {
		out = append(out, row{r.name, "-", nothingYet})
	}
	return out
}

// table is rows as text, in at most 80 columns.
func table(rows []row) string {
	rows = append([]row{{"NAME", "STATE", "HOLDS"}}, rows...)
	name, state := 0, 0
	for i := range rows {
		rows[i].name = ui.Clip(rows[i].name, nameColumns)
		name, state = max(name, ansi.StringWidth(rows[i].name)), max(state, len(rows[i].state))
	}
	indent := 2 + name + 2 + state + 2
	var b strings.Builder
	for _, r := range rows {
		padded := r.name + strings.Repeat(" ", name-ansi.StringWidth(r.name))
		holds := strings.Join(ui.Wrap(r.holds, ui.Columns-indent), "\n"+strings.Repeat(" ", indent))
		fmt.Fprintf(&b, "  %s  %-*s  %s\n", padded, state, r.state, holds)
	}
	return b.String()
}
