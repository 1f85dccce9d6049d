// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"os"
	"runtime/debug"
	"time"
)

const (
	startingGC = 150
	steadyGC   = 100
	startsFor  = 5 * time.Second
)

// startFast has a component start with few garbage collections: it allocates most while it starts,
// and does so with less work. Afterwards that memory is returned. A value of GOGC in the
// environment overrides both.
func startFast() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(startingGC)
	time.AfterFunc(startsFor, func() {
		debug.SetGCPercent(steadyGC)
		debug.FreeOSMemory()
	})
}
