// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

func TestReportPassesOnWhatIsNoPackage(t *testing.T) {
	lines := make(chan string, 4)
	for _, line := range []string{"k8s.io/api/core/v1", "go: downloading k8s.io/api v0.36.3", "# example.com/x", "x.go:1:2: undefined: y"} {
		lines <- line
	}
	close(lines)
	var out strings.Builder
	report(lines, func() int { return 0 }, &out)
	if want := "# example.com/x\nx.go:1:2: undefined: y\n"; out.String() != want {
		t.Errorf("report wrote %q, want %q", out.String(), want)
	}
}

func TestBuildReturnsTheError(t *testing.T) {
	if err := build([]string{"go", "build", "./no-such-folder"}, &strings.Builder{}); err == nil {
		t.Error("a failed build was reported as a success")
	}
}
