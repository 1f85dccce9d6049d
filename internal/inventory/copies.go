// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/provider"
)

// Stock holds the objects with the tags of a cluster: those that were created for it,
// and the copies that the platform's own clone and restore created.
type Stock struct {
	Held   Inventory
	Copies Copies
}

// Copies are objects with the tags of a cluster that Butler did not create. They are
// listed and never deleted, and they block nothing.
type Copies []copied

// copied is one object, with the owner of what it was copied from.
type copied struct {
	owner provider.Owner
	part  provider.Part
}

// add adds the copies of one machine.
func (c *Copies) add(h provider.Holding) {
	for _, p := range h.Copies {
		*c = append(*c, copied{h.Owner, p})
	}
}

// OfCluster returns the copies without those of another cluster.
func (c Copies) OfCluster(cluster string) Copies {
	return slices.DeleteFunc(slices.Clone(c), func(o copied) bool { return o.owner.Cluster != "" && o.owner.Cluster != cluster })
}

// Line lists the copies in at most 80 columns; it is empty without any.
func (c Copies) Line() string {
	if len(c) == 0 {
		return ""
	}
	var names []string
	for _, o := range c {
		names = append(names, o.part.Kind+" "+o.part.Name)
	}
	slices.Sort(names)
	const begin = "  kept: "
	text := strings.Join(names, ", ") + " (copied on the platform with our tags, not created by Butler)"
	return begin + strings.Join(ui.Wrap(text, ui.Columns-len(begin)), "\n"+strings.Repeat(" ", len(begin))) + "\n"
}
