// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// column of a table. On a narrow screen the one of the highest rank is given up
// first.
type column[T any] struct {
	name string
	text func(T) string
	rank int
}

func machineColumns(now time.Time) []column[Machine] {
	return []column[Machine]{
		{"MACHINE", func(m Machine) string { return m.Name }, 0},
		{"ROLE", func(m Machine) string { return string(m.Role) }, 4},
		{"PHASE", func(m Machine) string { return string(m.Phase) }, 1},
		{"ADDRESS", func(m Machine) string { return m.IPAddress }, 3},
		{"NODE", node, 2},
		{"SINCE", func(m Machine) string { return Duration(now.Sub(m.Since)) }, 5},
	}
}

// node is how far a machine is as a node.
func node(m Machine) string {
	switch {
	case m.Ready:
		return "Ready"
	case m.TalosConfigured:
		return "configured"
	}
	return "-"
}

// machines is the table, in at most so many lines; 0 means any number.
func (s Screen) machines(v View, now time.Time, room int) []string {
	if len(v.Machines) == 0 || room == 1 {
		return nil
	}
	if room > 0 && room < 4 {
		return []string{"", s.paint(faint, fmt.Sprintf("   %d machines, %d of them Ready", len(v.Machines), countReady(v.Machines)))}
	}
	shown, hidden := v.Machines, []Machine(nil)
	if room > 0 && len(shown)+2 > room {
		shown, hidden = choose(v.Machines, room-3)
	}
	cols, widths := fit(machineColumns(now), v.Machines, s.Width)
	out := []string{"", s.paint(faint, "  "+header(cols, widths))}
	for _, m := range shown {
		out = append(out, s.paint(colourOf(m), "  "+line(cols, widths, m)))
	}
	if len(hidden) > 0 {
		out = append(out, s.paint(faint, fmt.Sprintf("   and %d more, %d of them Ready", len(hidden), countReady(hidden))))
	}
	return out
}

func countReady(all []Machine) (n int) {
	for _, m := range all {
		if m.Ready {
			n++
		}
	}
	return n
}

// choose keeps the machines that are not there yet; their order stays.
func choose(all []Machine, room int) (shown, hidden []Machine) {
	var order []int
	for _, ready := range []bool{false, true} {
		for i, m := range all {
			if m.Ready == ready {
				order = append(order, i)
			}
		}
	}
	kept := order[:min(room, len(order))]
	for i, m := range all {
		if slices.Contains(kept, i) {
			shown = append(shown, m)
		} else {
			hidden = append(hidden, m)
		}
	}
	return shown, hidden
}

func colourOf(m Machine) string {
	switch {
	case m.Phase == v1alpha1.MachineFailed:
		return bad
	case m.Phase == v1alpha1.MachineUnknown:
		return notice
	case m.Ready:
		return good
	}
	return ""
}

// fit gives up columns until the rest fits into a width, and lastly cuts the
// first.
func fit[T any](cols []column[T], all []T, width int) ([]column[T], []int) {
	for {
		widths := make([]int, len(cols))
		total := 1
		for i, c := range cols {
			widths[i] = len(c.name)
			for _, item := range all {
				widths[i] = max(widths[i], ansi.StringWidth(c.text(item)))
			}
			total += widths[i] + 2
		}
		if total <= width || len(cols) == 1 {
			return cols, widths
		}
		worst := slices.MaxFunc(cols, func(a, b column[T]) int { return a.rank - b.rank })
		cols = slices.DeleteFunc(slices.Clone(cols), func(c column[T]) bool { return c.rank == worst.rank })
	}
}

// header is the first line of a table.
func header[T any](cols []column[T], widths []int) string {
	return cells(cols, widths, func(c column[T]) string { return c.name })
}

// line is one of the others.
func line[T any](cols []column[T], widths []int, item T) string {
	return cells(cols, widths, func(c column[T]) string { return c.text(item) })
}

func cells[T any](cols []column[T], widths []int, text func(column[T]) string) string {
	var b strings.Builder
	for i, c := range cols {
		b.WriteString(" " + pad(text(c), widths[i]) + " ")
	}
	return strings.TrimRight(b.String(), " ")
}
