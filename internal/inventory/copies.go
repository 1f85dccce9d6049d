// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/provider"
)

// Stock is what the platform holds under the tags of a cluster: what was created for
// it, and the copies that the platform's own clone and restore made of that.
type Stock struct {
	Held   Inventory
	Copies Copies
}

// Copies are objects that carry tags of ours and were not created by us. They are
// shown and never deleted, and they block nothing.
type Copies []copied

// copied is one object, with the owner of what it was copied from.
type copied struct {
	owner provider.Owner
	part  provider.Part
}

// add notes the copies of one machine.
func (c *Copies) add(m provider.Machine) {
	for _, p := range m.Copies {
		*c = append(*c, copied{m.Ref.Owner, p})
	}
}

// OfCluster leaves out the copies of what has the name of another cluster.
func (c Copies) OfCluster(cluster string) Copies {
	return slices.DeleteFunc(slices.Clone(c), func(o copied) bool { return o.owner.Cluster != "" && o.owner.Cluster != cluster })
}

// Line names the copies in at most 80 columns; it is empty if there are none.
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
