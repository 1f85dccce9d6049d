// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	// calibrators is how many processors most of what is measured keeps busy.
	calibrators = 2
	rounds      = 5
	pieces      = 60
)

// calibrate returns how fast this machine is now: pieces of a fixed work per millisecond. The
// work is of the kind that an API server does: JSON, hashes, maps, garbage.
func calibrate() float64 {
	best := time.Duration(0)
	for range rounds {
		began := time.Now()
		var all sync.WaitGroup
		for range calibrators {
			all.Go(func() {
				for i := range pieces {
					piece(i)
				}
			})
		}
		all.Wait()
		if took := time.Since(began); best == 0 || took < best {
			best = took
		}
	}
	return float64(calibrators*pieces) / (best.Seconds() * 1000)
}

// piece is what calibrate repeats. It returns something that depends on all of it.
func piece(seed int) (out [32]byte) {
	object := map[string]any{}
	for i := range 100 {
		object[fmt.Sprint("field-", i)] = map[string]any{"name": fmt.Sprint(seed, i), "values": []int{i, i + 1, i + 2}}
	}
	data, err := json.Marshal(object)
	if err != nil {
		return out
	}
	var back map[string]any
	if json.Unmarshal(data, &back) != nil {
		return out
	}
	for range 20 {
		out = sha256.Sum256(append(data, out[:]...))
	}
	return out
}

// median is the one in the middle, the later one of two.
func median[T cmp.Ordered](all []T) T {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}
