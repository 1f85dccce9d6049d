// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// killChild kills the component of this name that this process has started.
func killChild(component string) error {
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		return err
	}
	for _, list := range lists {
		pids, err := os.ReadFile(list)
		if err != nil {
			continue // a thread that has ended
		}
		for pid := range strings.FieldsSeq(string(pids)) {
			line, _ := os.ReadFile(filepath.Join("/proc", pid, "cmdline")) // it may have ended too
			if !bytes.Contains(line, []byte("\x00component\x00"+component+"\x00")) {
				continue
			}
			n, err := strconv.Atoi(pid)
			if err != nil {
				return err
			}
			return syscall.Kill(n, syscall.SIGKILL)
		}
	}
	return fmt.Errorf("no component %s runs", component)
}
