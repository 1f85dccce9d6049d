// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"github.com/butlerdotdev/butler/provider"
)

func held(owner, name string, of ...string) holding {
	return holding{name: name, owner: provider.Owner{ID: owner}, parts: parts(of...)}
}

func TestLedgerUnitesWhatWasEverSeen(t *testing.T) {
	one, two := held("1", "a", "machine/a", "disk/a-root"), held("2", "b", "machine/b")
	for reason, c := range map[string]struct {
		seen  []inventory
		grown []bool
		want  string
	}{
		"nothing was made":            {nil, nil, "created 0, deleted 0, left 0"},
		"all is there":                {[]inventory{{one, two}}, []bool{true}, "created 3, deleted 0, left 3: 2 machines, 1 disk"},
		"all is gone":                 {[]inventory{{one, two}, {}}, []bool{true, false}, "created 3, deleted 3, left 0: 2 machines, 1 disk"},
		"a part is left":              {[]inventory{{one, two}, {held("1", "a", "disk/a-root")}}, []bool{true, false}, "created 3, deleted 2, left 1: 2 machines, 1 disk"},
		"one appears in between":      {[]inventory{{one}, {two}, {}}, []bool{true, true, false}, "created 3, deleted 3, left 0: 2 machines, 1 disk"},
		"the same is seen twice":      {[]inventory{{one}, {one}}, []bool{true, false}, "created 2, deleted 0, left 2: 1 machine, 1 disk"},
		"a name comes back elsewhere": {[]inventory{{held("1", "a", "machine/a")}, {held("3", "a", "machine/a")}}, []bool{true, true}, "created 2, deleted 1, left 1: 2 machines"},
	} {
		t.Run(reason, func(t *testing.T) {
			l := &ledger{}
			for i, now := range c.seen {
				if got := l.see(now); got != c.grown[i] {
					t.Errorf("listing %d: grown is %v", i, got)
				}
			}
			if got := l.line("created"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
