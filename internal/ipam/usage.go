// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipam

import "math"

// Usage is how much of a pool is used.
type Usage struct {
	// Total is the number of addresses that can be allocated.
	Total uint64
	// Free is the number of those that are not allocated.
	Free uint64
	// LargestFree is the number of addresses of the largest free block.
	LargestFree uint64
	// Fragmentation is the share of free addresses, in percent, outside of the largest free block.
	Fragmentation int32
}

// Usage of the space.
func (s *Space) Usage() Usage {
	u := Usage{Total: s.total, Free: s.free}
	if largest, ok := s.bySize.Max(); ok {
		u.LargestFree = largest.last - largest.first + 1
		u.Fragmentation = int32(math.Floor(100 * (1 - float64(u.LargestFree)/float64(u.Free))))
	}
	return u
}

// Int32 is a count for a field of 32 bits: the largest number of the field if it is larger.
func Int32(n uint64) int32 { return int32(min(n, math.MaxInt32)) }
