// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"time"

	"github.com/butlerdotdev/butler/internal/plane/kind"
)

// Hooks let a test take hold of a command where nothing outside can.
type Hooks struct {
	// At is called at each boundary of what a command writes down, with its name,
	// for example "pivot/copy" or "destroy/listed".
	At func(boundary string)
	// Clock is what the controllers take the time from; nil is the machine's.
	Clock func() time.Time
	// Quota is how many bytes the store of the local plane may take; 0 is the usual.
	Quota int64
	// Engine runs KIND clusters; nil is KIND's library.
	Engine kind.Engine
	// PodsReachSimulator says that pods on the plane have a way to the simulated network.
	PodsReachSimulator bool
}

// Reached calls At at a boundary.
func (h Hooks) Reached(boundary string) {
	if h.At != nil {
		h.At(boundary)
	}
}
