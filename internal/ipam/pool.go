// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipam

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
)

// Pool describes a network and which of its addresses can be allocated.
type Pool struct {
	// Prefix of the network.
	Prefix netip.Prefix
	// Ranges that allocations come from; none: the whole network.
	Ranges []Range
	// Reserved ranges are never allocated.
	Reserved []Range
	// Gateway of the network, if there is one; it is never allocated.
	Gateway netip.Addr
}

// maxHostBits is the size of the largest network, a /64 of IPv6.
const maxHostBits = 64

// Check returns what is wrong with the pool, and what to do.
func (p Pool) Check() error {
	if err := p.checkPrefix(); err != nil {
		return err
	}
	network := Of(p.Prefix)
	for i, r := range p.Ranges {
		if err := within(network, r, p.Prefix); err != nil {
			return err
		}
		for _, other := range p.Ranges[:i] {
			if r.Overlaps(other) {
				return fmt.Errorf("ranges %s and %s overlap", other, r)
			}
		}
	}
	for _, r := range p.Reserved {
		if err := within(network, r, p.Prefix); err != nil {
			return fmt.Errorf("reserved %w", err)
		}
	}
	if p.Gateway.IsValid() && !p.Prefix.Contains(p.Gateway) {
		return fmt.Errorf("gateway %s is not in the network %s", p.Gateway, p.Prefix)
	}
	return nil
}

func (p Pool) checkPrefix() error {
	switch {
	case !p.Prefix.IsValid():
		return fmt.Errorf("%s is not a network", p.Prefix)
	case p.Prefix != p.Prefix.Masked():
		return fmt.Errorf("%s is an address in a network; the network is %s", p.Prefix, p.Prefix.Masked())
	case p.Prefix.Addr().Is4In6():
		return fmt.Errorf("%s is IPv4 written as IPv6; write it as IPv4", p.Prefix)
	case p.Prefix.Addr().BitLen()-p.Prefix.Bits() > maxHostBits:
		return fmt.Errorf("%s is larger than a /%d, the largest network of a pool", p.Prefix, p.Prefix.Addr().BitLen()-maxHostBits)
	}
	return nil
}

func within(network, r Range, prefix netip.Prefix) error {
	if err := r.Check(); err != nil {
		return err
	}
	if !network.Contains(r) {
		return fmt.Errorf("range %s is not in the network %s", r, prefix)
	}
	return nil
}

// ranges are those that allocations come from, in order.
func (p Pool) ranges() []Range {
	if len(p.Ranges) == 0 {
		return []Range{Of(p.Prefix)}
	}
	return slices.SortedFunc(slices.Values(p.Ranges), func(a, b Range) int { return a.First.Compare(b.First) })
}

// withheld are the ranges that are never allocated: reserved ones, the gateway, and the
// addresses of the network itself. Networks of one or two addresses have none of the latter.
func (p Pool) withheld() []Range {
	all := slices.Clone(p.Reserved)
	if p.Gateway.IsValid() {
		all = append(all, Single(p.Gateway))
	}
	if p.Prefix.Addr().BitLen()-p.Prefix.Bits() <= 1 {
		return all
	}
	network := Of(p.Prefix)
	all = append(all, Single(network.First)) // the network, or the anycast address of routers
	if p.Prefix.Addr().Is4() {
		all = append(all, Single(network.Last)) // broadcast
	}
	return all
}

// Allows returns whether an address may be allocated.
func (p Pool) Allows(a netip.Addr) bool {
	return contains(p.ranges(), a) && !contains(p.withheld(), a)
}

func contains(all []Range, a netip.Addr) bool {
	return slices.ContainsFunc(all, func(r Range) bool { return r.Contains(Single(a)) })
}

// Overlaps returns whether both pools allocate some address.
func (p Pool) Overlaps(other Pool) bool {
	for _, mine := range allocatable(p, p.ranges()) {
		if slices.ContainsFunc(allocatable(other, other.ranges()), mine.Overlaps) {
			return true
		}
	}
	return false
}

// allocatable are the parts of ranges that the pool allows to allocate.
func allocatable(p Pool, of []Range) (parts []Range) {
	for _, allowed := range p.ranges() {
		for _, r := range of {
			if common, ok := intersect(allowed, r); ok {
				parts = append(parts, common)
			}
		}
	}
	for _, w := range p.withheld() {
		parts = subtract(parts, w)
	}
	return parts
}

// Withheld is the number of addresses in the ranges of the pool that are never allocated.
func (p Pool) Withheld() (n uint64) {
	var all []Range
	for _, allowed := range p.ranges() {
		for _, w := range p.withheld() {
			if common, ok := intersect(allowed, w); ok {
				all = append(subtract(all, common), common)
			}
		}
	}
	for _, r := range all {
		if n += r.Size(); n < r.Size() {
			return math.MaxUint64
		}
	}
	return n
}

// Allowed is the number of addresses of a range that may be allocated.
func (p Pool) Allowed(r Range) (n uint64) {
	for _, part := range allocatable(p, []Range{r}) {
		n += part.Size()
	}
	return n
}
