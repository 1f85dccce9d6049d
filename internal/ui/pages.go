// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Pages shows one page after another: on a terminal in the place of the one before, elsewhere
// below each other, and only those that differ.
type Pages struct {
	out  io.Writer
	last string
}

// NewPages returns one without a page.
func NewPages(out io.Writer) *Pages { return &Pages{out: out} }

// Show shows a page.
func (p *Pages) Show(page string) {
	f, live := terminal(p.out)
	switch {
	case live:
		s := screenOf(f)
		lines := strings.Split(strings.TrimRight(page, "\n"), "\n")
		for i, line := range lines {
			lines[i] = Clip(line, s.Width)
		}
		page := strings.Join(lines[:min(len(lines), max(s.Height-1, 1))], "\n") + "\n"
		fmt.Fprint(p.out, p.home()+over(page))
	case p.last == "":
		fmt.Fprint(p.out, page)
	case withoutTimes(page) != withoutTimes(p.last):
		fmt.Fprint(p.out, "\n"+page)
	}
	p.last = page
}

// home moves the cursor to the beginning of the screen, which the first page clears.
func (p *Pages) home() string {
	if p.last == "" {
		return "\x1b[H\x1b[J"
	}
	return "\x1b[H"
}

// times are the durations of a page, which change by themselves.
var times = regexp.MustCompile(`\b(\d+h)?(\d+m)?\d+s\b`)

func withoutTimes(page string) string { return times.ReplaceAllString(page, "") }
