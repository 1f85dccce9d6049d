// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipam

import (
	"cmp"
	"slices"
)

// Candidate is a pool that an allocation may come from.
type Candidate struct {
	Name string
	// Priority ranks pools: the lowest first, then by name.
	Priority int32
	Space    *Space
}

// Choose returns the first candidate in which n contiguous addresses are free, and these.
func Choose(candidates []Candidate, n uint64) (Candidate, Range, bool) {
	for _, c := range Ranked(candidates) {
		if r, ok := c.Space.Find(n); ok {
			return c, r, true
		}
	}
	return Candidate{}, Range{}, false
}

// Ranked are the candidates in the order in which they are tried.
func Ranked(candidates []Candidate) []Candidate {
	return slices.SortedFunc(slices.Values(candidates), Compare)
}

// Compare orders candidates: by priority, then by name.
func Compare(a, b Candidate) int {
	return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Name, b.Name))
}
