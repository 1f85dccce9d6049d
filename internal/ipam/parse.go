// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipam

import (
	"fmt"
	"iter"
	"net/netip"
	"strings"
)

// ParseRange reads "first-last", or one address.
func ParseRange(text string) (Range, error) {
	first, last, found := strings.Cut(text, "-")
	if !found {
		last = first
	}
	return NewRange(first, last)
}

// NewRange is the range from one address to another.
func NewRange(first, last string) (r Range, err error) {
	if r.First, err = netip.ParseAddr(first); err != nil {
		return r, fmt.Errorf("%q is not an address", first)
	}
	if r.Last, err = netip.ParseAddr(last); err != nil {
		return r, fmt.Errorf("%q is not an address", last)
	}
	return r, r.Check()
}

// All are the addresses of a range, in order.
func (r Range) All() iter.Seq[netip.Addr] {
	return func(yield func(netip.Addr) bool) {
		for a := r.First; a.IsValid() && a.Compare(r.Last) <= 0; a = a.Next() {
			if !yield(a) {
				return
			}
		}
	}
}

// Head is the first n addresses of a range of one /64.
func (r Range) Head(n uint64) Range { return Range{r.First, at(r.First, n-1)} }
