// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/history"
	"github.com/butlerdotdev/butler/internal/ui"
)

// Detail is how much of a plan is shown.
type Detail int

// The details.
const (
	// Full lists everything.
	Full Detail = iota
	// Brief counts the checks that have passed.
	Brief
)

// page is a text of lines that fit into 80 columns.
type page struct{ strings.Builder }

// Render returns a plan as text for people.
func Render(p Plan, d Detail) string {
	w := &page{}
	w.line("%s", p.Title())
	if p.Create != nil {
		w.create(p.Create)
	}
	w.changes(p)
	w.checks(p.Checks, d)
	if p.Create != nil {
		w.times(p)
		w.cost(p.Cost, d)
	}
	for _, text := range p.Warnings {
		w.row("warning", text)
	}
	return w.String()
}

func (w *page) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// row is a name and a text, which is wrapped.
func (w *page) row(name, text string) {
	if text != "" {
		w.line("%-12s%s", name+":", w.wrapped(text, 12))
	}
}

func (*page) wrapped(text string, indent int) string {
	return strings.Join(ui.Wrap(text, ui.Columns-indent), "\n"+strings.Repeat(" ", indent))
}

func (w *page) create(c *Creation) {
	w.row("Talos", strings.TrimSpace(c.Talos+" "+c.Schematic))
	w.row("Kubernetes", c.Kubernetes)
	w.row("endpoint", endpoint(c.Endpoint))
	if lb := c.LoadBalancer; lb != nil {
		w.row("balancer", balancer(*lb))
	}
	w.row("pool", c.LoadBalancerPool)
	w.row("addresses", addresses(c))
	if c.ManagesItself {
		w.row("pivot", "the cluster takes over its own management")
	}
	w.machines(c)
	w.addons(c.Addons)
	if len(c.Images) > 0 {
		w.line("\nIMAGES OF THE CONTROLLERS\n%s", strings.Join(c.Images, "\n"))
	}
}

func endpoint(e Endpoint) string {
	return fmt.Sprintf("%s, port %d (%s)", cmp.Or(e.Address, "assigned by the platform"), e.Port, e.Kind)
}

func balancer(lb LoadBalancer) string {
	from := "any client"
	if len(lb.AllowedCIDRs) > 0 {
		from = strings.Join(lb.AllowedCIDRs, ", ")
	}
	var ports []string
	for _, p := range lb.Ports {
		ports = append(ports, fmt.Sprint(p))
	}
	return fmt.Sprintf("%s, %s, ports %s, from %s", lb.Name, lb.Scheme, strings.Join(ports, " and "), from)
}

// addresses are those of NetworkPools that no machine has.
func addresses(c *Creation) string {
	var out []string
	for _, a := range c.Addresses {
		if slices.ContainsFunc(c.Machines, func(m Machine) bool { return m.Name == a.For }) {
			continue
		}
		text := a.Start
		if a.End != a.Start {
			text += "-" + a.End
		}
		out = append(out, fmt.Sprintf("%s %s (%s)", a.For, text, a.Pool))
	}
	return strings.Join(out, ", ")
}

func (w *page) machines(c *Creation) {
	w.line("")
	cells := [][]string{{"MACHINE", "ROLE", "CPU", "MEMORY", "DISKS", "TYPE", "ZONE", "ADDRESS"}}
	for _, m := range c.Machines {
		cells = append(cells, []string{
			m.Name, string(m.Role), fmt.Sprint(m.CPU), memory(m.MemoryMB), disks(m), m.Type, m.Zone, m.Address,
		})
	}
	w.table(cells)
	s := c.Sum
	w.line("%s", w.wrapped(fmt.Sprintf("%s: %s, %s of memory, %d GB on %s", count(int64(s.Machines), "machine"), count(s.CPU, "core"), gibibytes(s.MemoryMB), s.DiskGB, count(int64(s.Disks), "disk")), 0))
	w.row("image", strings.Join(images(c.Machines), ", "))
}

// count is a number of things.
func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func disks(m Machine) string {
	sizes := []string{fmt.Sprint(m.DiskGB)}
	for _, d := range m.ExtraDisks {
		sizes = append(sizes, fmt.Sprint(d.SizeGB))
	}
	return strings.Join(sizes, "+") + "G"
}

// memory is short: eight columns have to fit.
func memory(mb int32) string {
	if mb%1024 == 0 {
		return fmt.Sprintf("%dGi", mb/1024)
	}
	return fmt.Sprintf("%dMi", mb)
}

func gibibytes(mb int64) string {
	if mb%1024 == 0 {
		return fmt.Sprintf("%d GiB", mb/1024)
	}
	return fmt.Sprintf("%d MiB", mb)
}

// images are those of machines, each once.
func images(machines []Machine) (out []string) {
	seen := map[string]bool{"": true}
	for _, m := range machines {
		if !seen[m.Image] {
			seen[m.Image] = true
			out = append(out, m.Image)
		}
	}
	return out
}

func (w *page) addons(all []Addon) {
	if len(all) == 0 {
		return
	}
	w.line("")
	cells := [][]string{{"ADDON", "VERSION", "DIGEST", "FROM"}}
	for _, a := range all {
		cells = append(cells, []string{a.Name, a.Version, short(a.Digest), a.From})
	}
	w.table(cells)
}

// short is the beginning of a checksum, which is enough for people.
func short(digest string) string {
	_, sum, ok := strings.Cut(digest, ":")
	if !ok || len(sum) < 12 {
		return "-"
	}
	return sum[:12]
}

// table aligns columns. It leaves out those that are empty, and the second one where lines
// would be too long; then they are cut at the right.
func (w *page) table(rows [][]string) {
	widths := make([]int, len(rows[0]))
	total := -2
	for c := range widths {
		for _, row := range rows[1:] {
			widths[c] = max(widths[c], len(row[c]))
		}
		if widths[c] > 0 {
			widths[c] = max(widths[c], len(rows[0][c]))
			total += widths[c] + 2
		}
	}
	if total > ui.Columns && len(widths) > 4 {
		widths[1] = 0
	}
	for _, row := range rows {
		text := strings.Builder{}
		for c, cell := range row {
			if widths[c] > 0 {
				fmt.Fprintf(&text, "%-*s  ", widths[c], cmp.Or(cell, "-"))
			}
		}
		w.line("%s", ui.Clip(strings.TrimRight(text.String(), " "), ui.Columns))
	}
}

func (w *page) changes(p Plan) {
	if p.Action == Create {
		return
	}
	w.line("")
	if len(p.Changes) == 0 {
		w.line("%s", "The manifest changes nothing of the cluster.")
	}
	for _, c := range p.Changes {
		mark, text := "~", c.Effect
		if c.Refused != "" {
			mark, text = "✗", "refused: "+c.Refused
		}
		w.line("%s %s %s", mark, c.Object, c.Field)
		if c.From != "" || c.To != "" {
			w.line("    %s", w.wrapped(orNone(c.From)+" → "+orNone(c.To), 4))
		}
		w.line("    %s", w.wrapped(text, 4))
	}
	if _, refused := p.Refusals(); refused > 0 {
		w.line("%s", "While a change is refused, nothing is changed.")
	}
}

// RenderChecks returns checks as text for people.
func RenderChecks(all []Check) string {
	w := &page{}
	w.checks(all, Full)
	return w.String()
}

// checks lists the checks; those that have passed may be counted only.
func (w *page) checks(all []Check, d Detail) {
	if len(all) == 0 {
		return
	}
	if w.Len() > 0 {
		w.line("")
	}
	number := map[Result]int{}
	for _, c := range all {
		number[c.Result]++
	}
	w.line("CHECKS: %d passed, %d unknown, %d refused", number[Passed], number[Unknown], number[Refused])
	for _, c := range all {
		if c.Result == Passed && d == Brief {
			continue
		}
		mark := map[Result]string{Passed: "✓", Unknown: "?", Refused: "✗"}[c.Result]
		text := c.Name
		if c.Result != Passed {
			text += " is " + string(c.Result)
		}
		if c.Evidence != "" {
			text += ": " + c.Evidence
		}
		w.line("%s %s", mark, w.wrapped(text, 2))
		if c.Remedy != "" {
			w.line("  → %s", w.wrapped(c.Remedy, 4))
		}
	}
}

// times lists how long each phase took in earlier runs.
func (w *page) times(p Plan) {
	w.line("")
	if p.Total == nil {
		w.row("time", "no run recorded")
		return
	}
	w.row("time", fmt.Sprintf("%s, of %s", Spread(*p.Total), count(int64(p.Total.Runs), "recorded run")))
	for _, e := range p.Times {
		w.line("  %-22s %s", e.Phase, Spread(e))
	}
}

// Spread returns an estimate as text: the median, and the least and the most if they differ.
func Spread(e history.Estimate) string {
	text := seconds(e.Median)
	if seconds(e.Least) != seconds(e.Most) {
		text += fmt.Sprintf(" (%s to %s)", seconds(e.Least), seconds(e.Most))
	}
	return text
}

func seconds(s float64) string { return ui.Duration(time.Duration(s * float64(time.Second))) }
