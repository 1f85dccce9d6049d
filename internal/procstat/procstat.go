// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package procstat reads what Linux records about processes, for benchmarks. Elsewhere there is
// no such record, and Of returns an error.
package procstat

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Stat is what a process has used so far. Memory is in MiB.
type Stat struct {
	CPU time.Duration
	// Resident is the memory in use, Peak the most that was.
	Resident, Peak float64
}

// perSecond is how many clock ticks a second has, on every Linux that Go runs on.
const perSecond = 100

// Of returns the record of a process.
func Of(pid int) (s Stat, err error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	if s.CPU, err = cpu(dir); err != nil {
		return s, err
	}
	if s.Resident, err = memory(filepath.Join(dir, "status"), "VmRSS"); err != nil {
		return s, err
	}
	s.Peak, err = memory(filepath.Join(dir, "status"), "VmHWM")
	return s, err
}

// Proportional returns the memory of a process in MiB, of which it counts only a share of what
// it shares with others, such as the code of one executable; anonymous is what is in no file, so
// that the system cannot drop it.
func Proportional(pid int) (all, anonymous float64, err error) {
	path := filepath.Join("/proc", strconv.Itoa(pid), "smaps_rollup")
	if all, err = memory(path, "Pss"); err != nil {
		return 0, 0, err
	}
	anonymous, err = memory(path, "Pss_Anon")
	return all, anonymous, err
}

func cpu(dir string) (used time.Duration, err error) {
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return 0, err
	}
	// The name comes before, in parentheses, and may have some itself.
	after := string(stat[bytes.LastIndexByte(stat, ')')+1:])
	const user, system = 11, 12
	fields := strings.Fields(after)
	if len(fields) <= system {
		return 0, fmt.Errorf("%s/stat has %d fields after the name", dir, len(fields))
	}
	for _, i := range []int{user, system} {
		ticks, err := strconv.Atoi(fields[i])
		if err != nil {
			return 0, fmt.Errorf("%s/stat: %w", dir, err)
		}
		used += time.Duration(ticks) * time.Second / perSecond
	}
	return used, nil
}

// memory returns a line "Name: 123 kB" of a file in MiB.
func memory(path, name string) (float64, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(line, ":")
		if key != name {
			continue
		}
		kib, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
		if err != nil {
			return 0, fmt.Errorf("%s: %s: %w", path, name, err)
		}
		return float64(kib) / 1024, nil
	}
	return 0, fmt.Errorf("%s has no %s", path, name)
}
