// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipam

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
)

// Range is a contiguous block of addresses, both ends included.
type Range struct{ First, Last netip.Addr }

// String is "first-last", or the address if there is only one.
func (r Range) String() string {
	if r.First == r.Last {
		return r.First.String()
	}
	return r.First.String() + "-" + r.Last.String()
}

// Of is the range of all addresses of a prefix.
func Of(p netip.Prefix) Range {
	p = p.Masked()
	bytes := p.Addr().AsSlice()
	for bit := p.Bits(); bit < p.Addr().BitLen(); bit++ {
		bytes[bit/8] |= 0x80 >> (bit % 8)
	}
	last, _ := netip.AddrFromSlice(bytes)
	return Range{p.Addr(), last}
}

// Single is the range of one address.
func Single(a netip.Addr) Range { return Range{a, a} }

// Contains returns whether all of other is in r.
func (r Range) Contains(other Range) bool {
	return r.First.BitLen() == other.First.BitLen() && r.First.Compare(other.First) <= 0 && other.Last.Compare(r.Last) <= 0
}

// Overlaps returns whether the ranges have an address in common.
func (r Range) Overlaps(other Range) bool {
	return r.First.BitLen() == other.First.BitLen() && r.First.Compare(other.Last) <= 0 && other.First.Compare(r.Last) <= 0
}

// intersect is what two ranges have in common.
func intersect(a, b Range) (Range, bool) {
	if !a.Overlaps(b) {
		return Range{}, false
	}
	if a.First.Less(b.First) {
		a.First = b.First
	}
	if b.Last.Less(a.Last) {
		a.Last = b.Last
	}
	return a, true
}

// subtract is what is left of ranges without another one.
func subtract(from []Range, r Range) (rest []Range) {
	for _, f := range from {
		if !f.Overlaps(r) {
			rest = append(rest, f)
			continue
		}
		if f.First.Less(r.First) {
			rest = append(rest, Range{f.First, r.First.Prev()})
		}
		if r.Last.Less(f.Last) {
			rest = append(rest, Range{r.Last.Next(), f.Last})
		}
	}
	return rest
}

// Size is the number of addresses, at most the largest number there is.
func (r Range) Size() uint64 {
	high, low := parts(r.First)
	lastHigh, lastLow := parts(r.Last)
	borrow := uint64(0)
	if lastLow < low {
		borrow = 1
	}
	if lastHigh-high-borrow > 0 || lastLow-low == math.MaxUint64 {
		return math.MaxUint64
	}
	return lastLow - low + 1
}

// Check returns what is wrong with the range.
func (r Range) Check() error {
	switch {
	case !r.First.IsValid() || !r.Last.IsValid():
		return fmt.Errorf("range %s has no valid start and end", r)
	case r.First.Zone() != "" || r.Last.Zone() != "":
		return fmt.Errorf("range %s has a zone; remove it", r)
	case r.First.BitLen() != r.Last.BitLen():
		return fmt.Errorf("range %s has one end in IPv4 and one in IPv6", r)
	case r.Last.Less(r.First):
		return fmt.Errorf("range %s ends before it starts", r)
	}
	return nil
}

// parts are the upper and the lower 64 bits of an address.
func parts(a netip.Addr) (high, low uint64) {
	b := a.As16()
	return binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
}

// offset is the distance of an address from another one of the same /64.
func offset(base, a netip.Addr) uint64 {
	_, from := parts(base)
	_, to := parts(a)
	return to - from
}

// at is the address at an offset.
func at(base netip.Addr, offset uint64) netip.Addr {
	b := base.As16()
	binary.BigEndian.PutUint64(b[8:], binary.BigEndian.Uint64(b[8:])+offset)
	a := netip.AddrFrom16(b)
	if base.Is4() {
		return a.Unmap()
	}
	return a
}
