// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/butlerdotdev/butler/internal/inventory"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/provider"
)

// parts are written as kind/name.
func parts(text ...string) (out []provider.Part) {
	for _, t := range text {
		kind, name, _ := strings.Cut(t, "/")
		out = append(out, provider.Part{Kind: kind, Name: name})
	}
	return out
}

func TestTableHasRequestsWithoutMachinesAndFits(t *testing.T) {
	long := strings.Repeat("very-long-name-", 6)
	all := inventory.Inventory{
		{Name: "dev-cp-0", Owner: provider.Owner{ID: "1"}, State: provider.StateRunning, Parts: parts("machine/m", "disk/r", "disk/e")},
		{Name: long, Owner: provider.Owner{ID: "2"}, State: provider.StateDeleting, Parts: parts("machine/m", "disk/r", "secret/e", "address/1", "address/2", "load balancer/l")},
	}
	rows := rows(all, map[string]requestInfo{"1": {name: "dev-cp-0"}, "9": {name: "dev-cp-1"}})
	text := table(slices.Clone(rows))
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > ui.Columns {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	if len(rows) != 3 || rows[2] != (row{"dev-cp-1", "-", noObjects}) {
		t.Errorf("rows %+v", rows)
	}
	for _, want := range []string{"dev-cp-0  ", "  Running   machine, 2 disks\n", "very-long-name-very", "…  Deleting  "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
