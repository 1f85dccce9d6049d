// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package workstation

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// unsynchronised is the bit of the kernel for a clock that nothing keeps right.
const unsynchronised = 0x40

// synchronised reports whether the kernel knows that the clock is kept right.
func synchronised() (bool, error) {
	var t unix.Timex
	_, err := unix.Adjtimex(&t)
	return t.Status&unsynchronised == 0, err
}

// availableMemory is what can be used without swapping, as the kernel estimates it.
func availableMemory() (uint64, error) {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	return parseMemory(string(data))
}

func parseMemory(text string) (uint64, error) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 3 && words[0] == "MemAvailable:" {
			n, err := strconv.ParseUint(words[1], 10, 64)
			return n << 10, err
		}
	}
	return 0, errors.New("/proc/meminfo has no MemAvailable")
}
