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

// usageOf looks at all processes that have a home, as their environment says, or an argument: pods
// of a rehearsal have another environment. It is 0 where the system has no /proc.
func usageOf(home string) (u usage) {
	all, _ := filepath.Glob("/proc/[0-9]*") // the pattern is valid
	for _, dir := range all {
		environment, _ := os.ReadFile(filepath.Join(dir, "environ")) // it has ended, or belongs to another user
		arguments, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		if bytes.Contains(environment, []byte("BUTLER_HOME="+home)) || bytes.Contains(arguments, []byte(home)) {
			u.add(dir)
		}
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
