// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"errors"
	"slices"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

// Claim is the name and the owner of a load balancer, and what another owner has under one
// of its names.
type Claim struct {
	Ref   provider.LoadBalancerRef
	taken string
}

// Owns reports whether the tags are those of the owner; else it notes what is taken.
func (c *Claim) Owns(tags tag.Set, what string) bool {
	if c.Ref.Owner.ID != "" && tags.OwnerID == c.Ref.Owner.ID && tags.Machine == c.Ref.Name {
		return true
	}
	c.taken = what
	return false
}

// Conflict refuses a name that another owner has.
func (c *Claim) Conflict(op string) error {
	if c.taken == "" {
		return nil
	}
	return provider.NameTaken(op, c.taken, "name of the LoadBalancerRequest")
}

// CheckBalancer refuses a load balancer without an owner.
func CheckBalancer(op string, s provider.LoadBalancerSpec) error {
	if s.Owner.ID != "" {
		return nil
	}
	return provider.Invalid.New(op, provider.ReasonOwnerMissing, errors.New("the load balancer has no owner"), "name the owner")
}

// ListBalancers reports every load balancer of an owner of which an object was listed. The
// parts are those objects and what read adds.
func ListBalancers(owner provider.Owner, objects []provider.Object[string], read func(provider.LoadBalancerRef) (provider.LoadBalancer, error)) (found []provider.LoadBalancer, err error) {
	for _, g := range provider.Assemble(objects, owner.Cluster) {
		if !g.Ref.Owner.Matches(provider.Owner{ID: owner.ID, ClusterID: owner.ClusterID}) {
			continue
		}
		one, err := read(provider.LoadBalancerRef{Name: g.Ref.Name, Owner: g.Ref.Owner})
		if err != nil {
			return nil, err
		}
		parts, _ := g.Parts()
		one.Parts = append(parts, one.Parts...)
		found = append(found, one)
	}
	return found, nil
}

// Port is a port of a load balancer and the port that its health checks connect to.
type Port struct{ Port, Check int32 }

// Ports returns the ports of a load balancer, each once.
func Ports(s provider.LoadBalancerSpec) []Port {
	all := []Port{{s.Port, s.HealthCheckPort}}
	for _, p := range s.AdditionalPorts {
		if !slices.ContainsFunc(all, func(q Port) bool { return q.Port == p }) {
			all = append(all, Port{p, p})
		}
	}
	return all
}

// Clients returns the ranges of clients that a load balancer accepts: without any in the
// spec, everyone.
func Clients(s provider.LoadBalancerSpec) []string {
	if len(s.AllowedCIDRs) == 0 {
		return []string{"0.0.0.0/0"}
	}
	return s.AllowedCIDRs
}

// Difference returns what is wanted and not there, and what is there and not wanted, in
// the order given.
func Difference(want, have []string) (add, drop []string) {
	for _, w := range want {
		if !slices.Contains(have, w) && !slices.Contains(add, w) {
			add = append(add, w)
		}
	}
	for _, h := range have {
		if !slices.Contains(want, h) {
			drop = append(drop, h)
		}
	}
	return add, drop
}
