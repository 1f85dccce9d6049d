// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"bytes"
	"testing"
)

// TestPagesWithoutATerminalAreShownWhenTheyDiffer: a log is not filled with clocks.
func TestPagesWithoutATerminalAreShownWhenTheyDiffer(t *testing.T) {
	var out bytes.Buffer
	p := NewPages(&out)
	for _, page := range []string{"phase A 1s\n", "phase A 1m02s\n", "phase B 1s\n"} {
		p.Show(page)
	}
	if want := "phase A 1s\n\nphase B 1s\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
