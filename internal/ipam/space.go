// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package ipam computes which addresses of a network are free, and which of them an
// allocation gets. It has no state of its own and calls nothing: who writes an allocation
// down decides whether it is valid.
package ipam

import (
	"cmp"
	"fmt"
	"math"
	"net/netip"

	"github.com/google/btree"
)

// Space has the free addresses of a pool. An operation takes time logarithmic in the number of
// free blocks, whatever the size of the network. It is not safe for use by several goroutines.
type Space struct {
	pool    Pool
	base    netip.Addr
	byStart *btree.BTreeG[block]
	bySize  *btree.BTreeG[block]
	total   uint64 // addresses that could be allocated
	free    uint64
}

// block is a contiguous number of free addresses, as offsets in the network.
type block struct{ first, last uint64 }

const degree = 16

// NewSpace is the space of a pool without allocations.
func NewSpace(p Pool) (*Space, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	s := &Space{
		pool: p, base: p.Prefix.Addr(),
		byStart: btree.NewG(degree, func(a, b block) bool { return a.first < b.first }),
		bySize:  btree.NewG(degree, smaller),
	}
	for _, r := range p.ranges() {
		s.give(s.block(r))
	}
	for _, r := range p.withheld() {
		s.remove(s.block(r))
	}
	s.total = s.free
	return s, nil
}

// smaller orders blocks by size; of two of one size the one with the lower addresses is first.
func smaller(a, b block) bool {
	return cmp.Or(cmp.Compare(a.last-a.first, b.last-b.first), cmp.Compare(a.first, b.first)) < 0
}

func (s *Space) block(r Range) block { return block{offset(s.base, r.First), offset(s.base, r.Last)} }

func (s *Space) rangeOf(b block) Range { return Range{at(s.base, b.first), at(s.base, b.last)} }

// Find returns the first n addresses of the smallest free block that has as many.
func (s *Space) Find(n uint64) (Range, bool) {
	var found *block
	if n == 0 {
		return Range{}, false
	}
	s.bySize.AscendGreaterOrEqual(block{0, n - 1}, func(b block) bool {
		found = &b
		return false
	})
	if found == nil {
		return Range{}, false
	}
	return s.rangeOf(block{found.first, found.first + n - 1}), true
}

// Free returns whether all addresses of a range are free.
func (s *Space) Free(r Range) bool {
	if r.Check() != nil || !Of(s.pool.Prefix).Contains(r) {
		return false
	}
	_, ok := s.around(s.block(r))
	return ok
}

// around is the free block that contains another one.
func (s *Space) around(b block) (found block, ok bool) {
	s.byStart.DescendLessOrEqual(block{first: b.first}, func(f block) bool {
		found, ok = f, f.last >= b.last
		return false
	})
	return found, ok
}

// Take removes a range from what is free. It fails, and changes nothing, unless all of it is free.
func (s *Space) Take(r Range) error {
	if !s.Free(r) {
		return fmt.Errorf("%s is not free in %s", r, s.pool.Prefix)
	}
	s.remove(s.block(r))
	return nil
}

// Hold removes from what is free whatever of a range is: for allocations that exist already.
func (s *Space) Hold(r Range) {
	if r.Check() != nil {
		return
	}
	if part, ok := intersect(Of(s.pool.Prefix), r); ok {
		s.remove(s.block(part))
	}
}

// Release frees a range, as far as the pool allows its allocation.
func (s *Space) Release(r Range) error {
	if err := within(Of(s.pool.Prefix), r, s.pool.Prefix); err != nil {
		return err
	}
	if b := s.block(r); len(s.overlapping(b)) > 0 {
		return fmt.Errorf("part of %s is free already", r)
	}
	for _, part := range allocatable(s.pool, []Range{r}) {
		s.give(s.block(part))
	}
	return nil
}

// After returns the n addresses that follow a range, if they are free: what it can grow by.
func (s *Space) After(r Range, n uint64) (Range, bool) {
	b := s.block(r)
	if n == 0 || b.last > math.MaxUint64-n {
		return Range{}, false
	}
	next := block{b.last + 1, b.last + n}
	if _, ok := s.around(next); !ok {
		return Range{}, false
	}
	return s.rangeOf(next), true
}

// remove takes all free addresses of a block away.
func (s *Space) remove(b block) {
	for _, f := range s.overlapping(b) {
		s.drop(f)
		if f.first < b.first {
			s.put(block{f.first, b.first - 1})
		}
		if f.last > b.last {
			s.put(block{b.last + 1, f.last})
		}
	}
}

// overlapping are the free blocks that have an address in common with b.
func (s *Space) overlapping(b block) (found []block) {
	s.byStart.DescendLessOrEqual(block{first: b.last}, func(f block) bool {
		if f.last < b.first {
			return false
		}
		found = append(found, f)
		return true
	})
	return found
}

// give makes a block free that was not, together with free neighbours.
func (s *Space) give(b block) {
	if b.first > 0 {
		if left, ok := s.around(block{b.first - 1, b.first - 1}); ok {
			s.drop(left)
			b.first = left.first
		}
	}
	if b.last < math.MaxUint64 {
		if right, ok := s.around(block{b.last + 1, b.last + 1}); ok {
			s.drop(right)
			b.last = right.last
		}
	}
	s.put(b)
}

func (s *Space) put(b block) {
	s.byStart.ReplaceOrInsert(b)
	s.bySize.ReplaceOrInsert(b)
	s.free += b.last - b.first + 1 // modulo 2^64; a /64 never has all of its addresses free
}

func (s *Space) drop(b block) {
	s.byStart.Delete(b)
	s.bySize.Delete(b)
	s.free -= b.last - b.first + 1
}
