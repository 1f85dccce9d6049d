// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"slices"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Screen is what a view is drawn on.
type Screen struct {
	Width int
	// Height that the frame must stay below; 0 means that it does not matter.
	Height int
	Colour bool
}

// The colours, by what they mean.
const (
	good   = "32"
	bad    = "31"
	notice = "33"
	active = "36"
	faint  = "2"
	strong = "1"
)

func (s Screen) paint(code, text string) string {
	if !s.Colour || code == "" || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Render draws a view. The frame has no line that is wider than the screen, no
// more lines than fit, and ends with a line break.
func Render(v View, s Screen, now time.Time) string {
	if !v.End.IsZero() {
		now = v.End
	}
	lines := s.lay(v, now)
	if s.Height > 0 && len(lines) >= s.Height {
		lines = lines[:max(s.Height-1, 1)]
	}
	for i, line := range lines {
		lines[i] = strings.TrimRight(Clip(line, s.Width), " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// lay puts the parts below each other. Where they do not fit, first the phases
// that lie behind and ahead go, then addons and machines of which there is
// little to say.
func (s Screen) lay(v View, now time.Time) []string {
	head := append([]string{s.title(v, now), ""}, s.phases(v, now, false)...)
	foot := s.foot(v, false)
	machines, addons := s.machines(v, now, 0), s.addons(v, now, 0)
	room := s.Height - 1
	if s.Height == 0 || len(head)+len(machines)+len(addons)+len(foot) <= room {
		return slices.Concat(head, machines, addons, foot)
	}
	head = append([]string{s.title(v, now)}, s.phases(v, now, true)...)
	foot = s.foot(v, true)
	room = max(room-len(head)-len(foot), 1)
	if least := s.leastAddons(v, now); len(machines)+len(addons) > room {
		machines = s.machines(v, now, max(room-least, 1))
		addons = s.addons(v, now, max(room-len(machines), 1))
	}
	return slices.Concat(head, machines, addons, foot)
}

func (s Screen) title(v View, now time.Time) string {
	elapsed := Duration(now.Sub(v.Begin))
	room := s.Width - len(elapsed) - 1
	return s.paint(strong, pad(Clip(v.Title, room), room)) + " " + elapsed
}

// way is what a bootstrap goes through. Pivoting shows where it is to come,
// failing when it happens.
func way(v View) []v1alpha1.ClusterBootstrapPhase {
	out := []v1alpha1.ClusterBootstrapPhase{
		v1alpha1.BootstrapPending, v1alpha1.BootstrapProvisioningMachines, v1alpha1.BootstrapConfiguringTalos,
		v1alpha1.BootstrapBootstrappingCluster, v1alpha1.BootstrapInstallingAddons,
	}
	if v.Moves {
		out = append(out, v1alpha1.BootstrapPivoting)
	}
	for _, span := range v.Phases {
		if !slices.Contains(out, span.Phase) {
			out = append(out, span.Phase)
		}
	}
	if !slices.Contains(out, v1alpha1.BootstrapReady) && v.Phase != v1alpha1.BootstrapFailed {
		out = append(out, v1alpha1.BootstrapReady)
	}
	return out
}

// phases returns a line each, with the obstacle below the current one;
// if it must be short, the current one only.
func (s Screen) phases(v View, now time.Time, short bool) (out []string) {
	for _, phase := range way(v) {
		i := slices.IndexFunc(v.Phases, func(span Span) bool { return span.Phase == phase })
		if phase == v.Phase {
			span := Span{Phase: phase, Begin: v.Begin}
			if i >= 0 {
				span = v.Phases[i]
			}
			out = append(out, s.present(v, span, now)...)
			continue
		}
		if short {
			continue
		}
		if i < 0 {
			// A command that finds a bootstrap half way has not seen its past.
			mark := past(v, phase)
			out = append(out, " "+s.paint(faint, mark+" "+string(phase)))
			continue
		}
		out = append(out, s.row(s.behind(v, i), string(phase), Duration(v.Phases[i].End.Sub(v.Phases[i].Begin))))
	}
	return out
}

// behind is the mark of a phase that was left: the last one before a failure is
// the one that failed.
func (s Screen) behind(v View, i int) string {
	if v.Phase == v1alpha1.BootstrapFailed && i == len(v.Phases)-2 {
		return s.paint(bad, "✗")
	}
	return s.paint(good, "✓")
}

// past is the mark of a phase that was not seen: it lies behind or ahead.
func past(v View, phase v1alpha1.ClusterBootstrapPhase) string {
	all := way(v)
	if slices.Index(all, phase) < slices.Index(all, v.Phase) && v.Phase != v1alpha1.BootstrapFailed {
		return "✓"
	}
	return "·"
}

// row is a phase with its time at the right.
func (s Screen) row(mark, text, right string) string {
	room := s.Width - 4 - len(right)
	return " " + mark + " " + pad(Clip(text, room), room) + " " + right
}

var spinner = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

func (s Screen) present(v View, span Span, now time.Time) []string {
	mark, elapsed := s.mark(v, now), Duration(now.Sub(span.Begin))
	if v.Outcome == Ready && v.Phase == v1alpha1.BootstrapReady {
		elapsed = ""
	}
	if done, all := count(v.State); all > 0 && v.Outcome == Running {
		elapsed = percent(done, all) + pad("", 7-len(elapsed)) + elapsed
	}
	out := []string{s.row(mark, string(v.Phase), elapsed)}
	if v.Obstacle == "" || v.Outcome == Ready {
		return out
	}
	text := v.Obstacle
	if waited := now.Sub(v.Since); waited >= 5*time.Second && v.Outcome == Running {
		text += " (for " + Duration(waited) + ")"
	}
	for _, line := range fold(text, s.Width-6) {
		out = append(out, "     "+s.paint(notice, line))
	}
	return out
}

func (s Screen) mark(v View, now time.Time) string {
	switch {
	case v.Outcome == Ready:
		return s.paint(good, "✓")
	case v.Outcome == Failed:
		return s.paint(bad, "✗")
	case v.Outcome == Interrupted:
		return s.paint(notice, "■")
	case v.Paused:
		return s.paint(notice, "‖")
	}
	tick := int(now.Sub(v.Begin)/time.Second) % len(spinner)
	return s.paint(active, string(spinner[max(tick, 0)]))
}

// foot is what should be known, and how to leave; if it must be short, a line
// for each.
func (s Screen) foot(v View, short bool) (out []string) {
	for _, w := range v.Warnings {
		lines := fold(w, s.Width-4)
		if short {
			lines = []string{Clip(w, s.Width-4)}
		}
		for i, line := range lines {
			lead := "   "
			if i == 0 {
				lead = " " + s.paint(notice, "!") + " "
			}
			out = append(out, lead+s.paint(notice, line))
		}
	}
	if v.Outcome == Running {
		out = append(out, "", " "+s.paint(faint, s.leave()))
	}
	if len(out) > 0 && len(v.Warnings) > 0 {
		out = append([]string{""}, out...)
	}
	return out
}

// leave says what Ctrl-C does, as far as there is room.
func (s Screen) leave() string {
	const short, long = "Ctrl-C leaves everything in place", "; the same command continues."
	if len(short+long) < s.Width {
		return short + long
	}
	return short
}
