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

// remark is the minimum width of a message beside an addon,
// and complaint how many lines below it may say why it fails or waits.
const remark, complaint = 16, 3

func addonColumns(now time.Time) []column[Addon] {
	return []column[Addon]{
		{"ADDON", func(a Addon) string { return a.Name }, 0},
		{"VERSION", func(a Addon) string { return a.Version }, 2},
		{"PHASE", func(a Addon) string { return string(a.Phase) }, 1},
		{"SINCE", func(a Addon) string { return addonSince(a, now) }, 3},
	}
}

// addonSince returns the time in the phase; empty for an addon that is not in progress.
func addonSince(a Addon, now time.Time) string {
	if a.Phase == v1alpha1.AddonPending {
		return ""
	}
	return Duration(now.Sub(a.Since))
}

// addonsBegun: before that there is nothing to say about them.
func addonsBegun(v View) bool {
	switch v.Phase {
	case v1alpha1.BootstrapInstallingAddons, v1alpha1.BootstrapPivoting, v1alpha1.BootstrapReady:
		return len(v.Addons) > 0
	default:
		return slices.ContainsFunc(v.Addons, func(a Addon) bool { return a.Phase != v1alpha1.AddonPending })
	}
}

// atWork are the addons that something happens with, or does not happen.
func atWork(a v1alpha1.BootstrapAddonStatus) bool {
	return a.Phase != v1alpha1.AddonPending && a.Phase != v1alpha1.AddonReady
}

// addonTable is the addons as a screen shows them.
type addonTable struct {
	Screen
	header string
	rows   []addonRow
	// known is the text above the table, which is not repeated in full.
	known string
}

type addonRow struct {
	Addon
	text string
	// message is the obstacle of an addon at work; beside is as much of it as fits
	// into the same line, if that is worth it.
	message, beside string
}

func (s Screen) addonTable(v View, now time.Time) addonTable {
	cols, widths := fit(addonColumns(now), v.Addons, s.Width-2)
	t := addonTable{Screen: s, header: s.paint(faint, "  "+header(cols, widths)), known: flat(v.Obstacle)}
	for _, a := range v.Addons {
		mark, colour := addonMark(a)
		text := " " + mark + line(cols, widths, a)
		row := addonRow{Addon: a, text: s.paint(colour, text)}
		if atWork(a.BootstrapAddonStatus) {
			row.message = flat(a.Message)
		}
		if rest := s.Width - ansi.StringWidth(text) - 2; rest >= remark {
			row.beside = Clip(row.message, rest)
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// lines are those of one addon. An obstacle that does not fit beside it stands
// below, with its cause, which comes last; if that must be short, only why an
// addon fails, in one line.
func (t addonTable) lines(r addonRow, short bool) []string {
	failing := r.Phase == v1alpha1.AddonFailing
	clipped := short && !failing || strings.Contains(t.known, r.message)
	switch {
	case r.message == "", clipped && r.beside == "":
		return []string{r.text}
	case clipped, r.beside == r.message:
		return []string{r.text + "  " + t.paint(notice, r.beside)}
	}
	most := 1
	if !short {
		most = complaint
	}
	out := []string{r.text}
	for _, l := range foldTo(r.message, t.Width-6, most) {
		out = append(out, "     "+t.paint(notice, l))
	}
	return out
}

// leastAddons is how many lines the addons should have at least.
func (s Screen) leastAddons(v View, now time.Time) int {
	if !addonsBegun(v) {
		return 0
	}
	lines, t := 3, s.addonTable(v, now) // a space, the header, and how many others there are
	for _, r := range t.rows {
		if atWork(r.BootstrapAddonStatus) {
			lines += len(t.lines(r, true))
		}
	}
	return lines
}

// addons is their table, in at most so many lines; 0 means any number. If there
// is no room for all, those that fail come first, then those at work; all
// others are counted.
func (s Screen) addons(v View, now time.Time, room int) []string {
	if !addonsBegun(v) || room == 1 {
		return nil
	}
	if room > 0 && room < 4 {
		return []string{"", s.paint(faint, "   "+counted(v.Addons))}
	}
	t := s.addonTable(v, now)
	out := []string{"", t.header}
	for _, r := range t.rows {
		out = append(out, t.lines(r, room > 0)...)
	}
	if room > 0 && len(out) > room {
		out = append([]string{"", t.header}, t.chosen(room-3)...)
	}
	return out
}

// chosen are the addons that fail, then those at work, in so many lines; their
// order stays. The rest is counted in one line more.
func (t addonTable) chosen(room int) (out []string) {
	kept := map[string]bool{}
	for _, failing := range []bool{true, false} {
		for _, r := range t.rows {
			n := len(t.lines(r, true))
			if atWork(r.BootstrapAddonStatus) && failing == (r.Phase == v1alpha1.AddonFailing) && n <= room {
				kept[r.Name], room = true, room-n
			}
		}
	}
	var hidden []Addon
	for _, r := range t.rows {
		if kept[r.Name] {
			out = append(out, t.lines(r, true)...)
		} else {
			hidden = append(hidden, r.Addon)
		}
	}
	return append(out, t.paint(faint, "   "+counted(hidden)))
}

// flat is a text without line breaks and control sequences.
func flat(text string) string { return strings.Join(strings.Fields(ansi.Strip(text)), " ") }

func addonMark(a Addon) (mark, colour string) {
	switch a.Phase {
	case v1alpha1.AddonReady:
		return "✓", good
	case v1alpha1.AddonFailing:
		return "✗", bad
	case v1alpha1.AddonPending:
		return "·", faint
	case v1alpha1.AddonInstalling, v1alpha1.AddonWaiting:
	}
	return "…", ""
}

// counted says how many addons stand how.
func counted(all []Addon) string {
	count := map[v1alpha1.AddonPhase]int{}
	for _, a := range all {
		count[a.Phase]++
	}
	var parts []string
	for _, phase := range []v1alpha1.AddonPhase{
		v1alpha1.AddonFailing, v1alpha1.AddonReady, v1alpha1.AddonInstalling, v1alpha1.AddonWaiting, v1alpha1.AddonPending,
	} {
		if n := count[phase]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ToLower(string(phase))))
		}
	}
	first, others, _ := strings.Cut(strings.Join(parts, ", "), " ")
	noun := "addons"
	if first == "1" {
		noun = "addon"
	}
	return first + " " + noun + " " + others
}
