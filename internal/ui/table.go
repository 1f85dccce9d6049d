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

// column of the table of machines. On a narrow screen the one of the highest
// rank is given up first.
type column struct {
	name string
	text func(Machine) string
	rank int
}

func columns(now time.Time) []column {
	return []column{
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
	cols, widths := s.fit(columns(now), v.Machines)
	out := []string{"", s.paint(faint, line(cols, widths, func(c column) string { return c.name }))}
	for _, m := range shown {
		text := line(cols, widths, func(c column) string { return c.text(m) })
		out = append(out, s.paint(colourOf(m), text))
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

// fit gives up columns until the rest fits, and lastly cuts the names.
func (s Screen) fit(cols []column, all []Machine) ([]column, []int) {
	for {
		widths := make([]int, len(cols))
		total := 1
		for i, c := range cols {
			widths[i] = len(c.name)
			for _, m := range all {
				widths[i] = max(widths[i], ansi.StringWidth(c.text(m)))
			}
			total += widths[i] + 2
		}
		if total <= s.Width || len(cols) == 1 {
			return cols, widths
		}
		worst := slices.MaxFunc(cols, func(a, b column) int { return a.rank - b.rank })
		cols = slices.DeleteFunc(slices.Clone(cols), func(c column) bool { return c.rank == worst.rank })
	}
}

func line(cols []column, widths []int, text func(column) string) string {
	var b strings.Builder
	b.WriteString("  ")
	for i, c := range cols {
		b.WriteString(" " + pad(text(c), widths[i]) + " ")
	}
	return strings.TrimRight(b.String(), " ")
}
