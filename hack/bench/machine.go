// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// machine describes where a run took place.
type machine struct {
	OS         string  `json:"os"`
	Arch       string  `json:"arch"`
	Processor  string  `json:"processor,omitempty"`
	Processors int     `json:"processors"`
	MemoryMiB  int     `json:"memoryMiB,omitempty"`
	Kernel     string  `json:"kernel,omitempty"`
	Go         string  `json:"go"`
	Speed      float64 `json:"speed"`
	// SyncMS is how long a small file takes to be on disk.
	SyncMS float64 `json:"syncMs"`
}

// describe looks at this machine; what only Linux reports is empty elsewhere.
func describe(speed float64) (machine, error) {
	m := machine{OS: runtime.GOOS, Arch: runtime.GOARCH, Processors: runtime.NumCPU(), Go: runtime.Version(), Speed: speed}
	m.Processor = field("/proc/cpuinfo", "model name")
	m.Kernel = firstLine("/proc/sys/kernel/osrelease")
	kib, _ := strconv.Atoi(strings.TrimSuffix(field("/proc/meminfo", "MemTotal"), " kB")) // empty where there is none
	m.MemoryMiB = kib >> 10
	sync, err := syncTime()
	m.SyncMS = float64(sync.Microseconds()) / 1000
	return m, err
}

// field is the first value of a name in a file of lines "name: value".
func field(path, name string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func firstLine(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return line
}

// syncTime is the median time of a small write that is flushed to disk.
func syncTime() (time.Duration, error) {
	const times = 21
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	f, err := os.Create(filepath.Join(dir, "sync"))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	took := make([]time.Duration, times)
	for i := range took {
		began := time.Now()
		if _, err := f.Write(make([]byte, 512)); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		took[i] = time.Since(began)
	}
	return median(took), nil
}
