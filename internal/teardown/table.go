// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/butlerdotdev/butler/internal/inventory"
	"github.com/butlerdotdev/butler/internal/ui"
)

// row is a line of the table of what will be deleted.
type row struct{ name, state, holds string }

const (
	// nameColumns is the maximum width of a name.
	nameColumns = 44
	// noObjects marks a request without objects on the platform.
	noObjects = "nothing on the platform"
)

// rows returns a line for each holding, and one for each request without any.
func rows(i inventory.Inventory, requests map[string]requestInfo) (out []row) {
	waiting := maps.Clone(requests)
	for _, h := range i {
		delete(waiting, h.Owner.ID)
		out = append(out, row{h.Name, string(h.State), inventory.Contents(h.Parts)})
	}
	for _, r := range slices.SortedFunc(maps.Values(waiting), func(a, b requestInfo) int { return strings.Compare(a.name, b.name) }) {
		out = append(out, row{r.name, "-", noObjects})
	}
	return out
}

// table returns rows as text, in at most 80 columns.
func table(rows []row) string {
	rows = append([]row{{"NAME", "STATE", "HOLDS"}}, rows...)
	name, state := 0, 0
	for i := range rows {
		rows[i].name = ui.Clip(rows[i].name, nameColumns)
		name, state = max(name, ansi.StringWidth(rows[i].name)), max(state, len(rows[i].state))
	}
	indent := 2 + name + 2 + state + 2
	var b strings.Builder
	for _, r := range rows {
		padded := r.name + strings.Repeat(" ", name-ansi.StringWidth(r.name))
		holds := strings.Join(ui.Wrap(r.holds, ui.Columns-indent), "\n"+strings.Repeat(" ", indent))
		fmt.Fprintf(&b, "  %s  %-*s  %s\n", padded, state, r.state, holds)
	}
	return b.String()
}
