// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/butlerdotdev/butler/internal/procstat"
)

// usage is what the processes of a home use: CPU in seconds, memory in MiB. Memory that several
// share, such as the code of one executable, counts once.
type usage struct {
	cpu, memory, anonymous, controllers float64
}

// usageOf looks at all processes that have a home, as their environment says. It is 0 where the
// system has no /proc.
func usageOf(home string) (u usage) {
	environments, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is valid
	for _, path := range environments {
		if data, err := os.ReadFile(path); err != nil || !bytes.Contains(data, []byte("BUTLER_HOME="+home)) {
			continue // it has ended, or belongs to another user
		}
		u.add(filepath.Dir(path))
	}
	return u
}

// add adds a process, unless it has ended.
func (u *usage) add(dir string) {
	pid, err := strconv.Atoi(filepath.Base(dir))
	if err != nil {
		return
	}
	if s, err := procstat.Of(pid); err == nil {
		u.cpu += s.CPU.Seconds()
	}
	mib, anonymous, err := procstat.Proportional(pid)
	if err != nil {
		return
	}
	u.memory, u.anonymous = u.memory+mib, u.anonymous+anonymous
	if arguments, err := os.ReadFile(filepath.Join(dir, "cmdline")); err == nil && bytes.Contains(arguments, []byte("\x00controller\x00")) {
		u.controllers += mib
	}
}

// watchMemory looks at the memory of a home until ctx ends, and returns the most of it.
func watchMemory(ctx context.Context, home string) <-chan usage {
	out := make(chan usage, 1)
	go func() {
		var most usage
		for tick := time.Tick(500 * time.Millisecond); ; {
			select {
			case <-ctx.Done():
				out <- most
				return
			case <-tick:
			}
			now := usageOf(home)
			most.memory, most.controllers = max(most.memory, now.memory), max(most.controllers, now.controllers)
		}
	}()
	return out
}
