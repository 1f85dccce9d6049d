// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"testing"

	"github.com/butlerdotdev/butler/internal/inventory"
	"github.com/butlerdotdev/butler/provider"
)

func held(owner, name string, of ...string) provider.Holding {
	return provider.Holding{Name: name, Owner: provider.Owner{ID: owner}, Parts: parts(of...)}
}

func TestLedgerUnitesWhatWasEverSeen(t *testing.T) {
	one, two := held("1", "a", "machine/a", "disk/a-root"), held("2", "b", "machine/b")
	for reason, c := range map[string]struct {
		seen []inventory.Inventory
		want string
	}{
		"nothing was made":            {nil, "created 0, deleted 0, left 0"},
		"all is there":                {[]inventory.Inventory{{one, two}}, "created 3, deleted 0, left 3: 2 machines, 1 disk"},
		"all is gone":                 {[]inventory.Inventory{{one, two}, {}}, "created 3, deleted 3, left 0: 2 machines, 1 disk"},
		"a part is left":              {[]inventory.Inventory{{one, two}, {held("1", "a", "disk/a-root")}}, "created 3, deleted 2, left 1: 2 machines, 1 disk"},
		"one appears in between":      {[]inventory.Inventory{{one}, {two}, {}}, "created 3, deleted 3, left 0: 2 machines, 1 disk"},
		"the same is seen twice":      {[]inventory.Inventory{{one}, {one}}, "created 2, deleted 0, left 2: 1 machine, 1 disk"},
		"a name comes back elsewhere": {[]inventory.Inventory{{held("1", "a", "machine/a")}, {held("3", "a", "machine/a")}}, "created 2, deleted 1, left 1: 2 machines"},
	} {
		t.Run(reason, func(t *testing.T) {
			l := &ledger{}
			for _, now := range c.seen {
				l.record(now)
			}
			if got := l.line("created"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestLedgerKnowsWhatIsNotWrittenDown(t *testing.T) {
	l, now := &ledger{}, inventory.Inventory{held("1", "a", "machine/a")}
	if l.dirty {
		t.Error("an empty ledger has grown")
	}
	l.record(now)
	l.record(now) // what could not be written the first time is not forgotten the second
	if !l.dirty {
		t.Error("what is not written down counts as written")
	}
}
