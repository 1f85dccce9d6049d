// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command vulncheck runs govulncheck, and says so if its database cannot be reached: that is
// neither a vulnerability nor the absence of one.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// exitUnknown is the exit code if nothing was checked.
const exitUnknown = 4

func main() {
	var said bytes.Buffer
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, io.MultiWriter(os.Stderr, &said)
	err := cmd.Run()
	if err == nil {
		return
	}
	if unreachable(said.String()) {
		fmt.Fprintln(os.Stderr, "vulncheck: nothing was checked: the database https://vuln.go.dev cannot be reached from here; try again with a connection, or name a copy with VULNDB=file:///DIR")
		os.Exit(exitUnknown)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(exit.ExitCode())
	}
	fmt.Fprintln(os.Stderr, "vulncheck:", err)
	os.Exit(1)
}

// unreachable reports whether govulncheck has not read its database.
func unreachable(said string) bool {
	return strings.Contains(said, "fetching vulnerabilities") ||
		strings.Contains(said, "vuln.go.dev") && (strings.Contains(said, "dial tcp") || strings.Contains(said, "unexpected status code") || strings.Contains(said, "Forbidden"))
}
