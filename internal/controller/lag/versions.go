// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package lag keeps a reconciler from a pass over an object as it was before the reconciler's own
// last write. A cache shows a write a moment later; what looks like no change until then would stay
// in the status until the next event.
package lag

import (
	"slices"
	"time"
)

// Again is how soon to look again when the cache has not caught up with a write.
const Again = 25 * time.Millisecond

// Versions are the resource versions of one object that the last pass has replaced. To read one of
// them again means that the cache is behind. The zero value is ready.
type Versions []string

// Begin starts a pass over an object of that version. It reports false if the last pass has
// replaced it.
func (v *Versions) Begin(version string) bool {
	if slices.Contains(*v, version) {
		return false
	}
	*v = nil
	return true
}

// Replace notes that a write has replaced the version old.
func (v *Versions) Replace(old, now string) {
	if old != now {
		*v = append(*v, old)
	}
}
