// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// row is what came of one fault.
type row struct {
	operation       operation
	fault, provider string
	what            string
	took            time.Duration
	failed          bool
}

// table collects rows of tests that run at the same time.
type table struct {
	mu   sync.Mutex
	rows []row
}

func (t *table) add(rows ...row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, rows...)
}

// The columns: 100 characters in all.
const format = "%-9s  %-36s  %-9s  %-26s  %4s  %s\n"

// print writes all rows, none wider than 100 characters.
func (t *table) print(w io.Writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.rows) == 0 {
		return
	}
	failed := 0
	fmt.Fprintf(w, "\n"+format, "OPERATION", "FAULT", "PROVIDER", "WHAT HAPPENED", "SEC", "RESULT")
	for _, r := range t.rows {
		verdict := "ok"
		if r.failed {
			verdict = "FAIL"
			failed++
		}
		fmt.Fprintf(w, format, r.operation, cut(r.fault, 36), r.provider, cut(r.what, 26), fmt.Sprintf("%.0f", r.took.Seconds()), verdict)
	}
	fmt.Fprintf(w, "%d faults, %d failed\n\n", len(t.rows), failed)
}

func cut(text string, width int) string {
	if r := []rune(text); len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return text
}
