// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"cmp"
	"context"
	"slices"
)

// Holding is what a platform holds for one request.
type Holding struct {
	Name  string
	Owner Owner
	// State is Absent if nothing but copies exists.
	State State
	// Parts has at least the thing itself, unless it is Absent.
	Parts, Copies []Part
	// ID and Addresses are the platform's.
	ID        string
	Addresses []string
	// LoadBalancer says that it is one, and no machine.
	LoadBalancer bool
}

// Holdings lists all that the platform holds of an owner: machines, load balancers, and
// copies of them. It returns everything or an error, never a part.
func (p Platform) Holdings(ctx context.Context, o Owner) ([]Holding, error) {
	machines, err := p.Machines.List(ctx, o)
	if err != nil {
		return nil, err
	}
	var all []Holding
	for _, m := range machines {
		all = append(all, m.holding())
	}
	if p.LoadBalancers != nil {
		balancers, err := p.LoadBalancers.List(ctx, o)
		if err != nil {
			return nil, err
		}
		for _, b := range balancers {
			all = append(all, b.holding())
		}
	}
	slices.SortFunc(all, func(a, b Holding) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Owner.ID, b.Owner.ID))
	})
	return all, nil
}

// Remove asks the platform to delete a holding, and reports what is left of it. It is
// called again until that is Absent.
func (p Platform) Remove(ctx context.Context, h Holding) (left State, message string, err error) {
	if !h.LoadBalancer {
		m, err := p.Machines.Delete(ctx, MachineRef{Name: h.Name, Owner: h.Owner, ID: h.ID})
		return m.State, m.Message, err
	}
	ref := LoadBalancerRef{Name: h.Name, Owner: h.Owner}
	if err := p.LoadBalancers.Delete(ctx, ref); err != nil {
		return "", "", err
	}
	b, err := p.LoadBalancers.Observe(ctx, ref)
	return b.State, b.Message, err
}

func (m Machine) holding() Holding {
	h := Holding{Name: m.Ref.Name, Owner: m.Ref.Owner, State: m.State, ID: m.ID, Parts: m.Parts, Copies: m.Copies}
	for _, a := range m.Addresses {
		h.Addresses = append(h.Addresses, a.String())
	}
	return h.orItself(PartMachine)
}

func (b LoadBalancer) holding() Holding {
	h := Holding{Name: b.Ref.Name, Owner: b.Ref.Owner, State: b.State, ID: b.ID, Parts: b.Parts, LoadBalancer: true}
	if b.Endpoint != "" {
		h.Addresses = []string{b.Endpoint}
	}
	return h.orItself(PartLoadBalancer)
}

// orItself adds the thing itself if the driver reports no parts: what was listed is
// never nothing.
func (h Holding) orItself(kind string) Holding {
	if len(h.Parts) == 0 && h.State != StateAbsent {
		h.Parts = []Part{{Kind: kind, Name: h.Name}}
	}
	return h
}
