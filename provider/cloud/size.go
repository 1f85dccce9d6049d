// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package cloud has what the drivers of public clouds share: the choice of a size, the
// ports of a cluster and the firewall rules that they need, names, zones, attempts,
// batches of requests, and findings. Nothing in it talks to a platform.
package cloud

import (
	"cmp"
	"slices"
	"strings"
)

// Size is an entry of a cloud's catalogue: an instance type, a machine type, a VM size.
type Size struct {
	Name          string
	CPU, MemoryMB int32
	// Architectures are those of images that boot on it, in the cloud's own words.
	Architectures []string
	// Family decides between sizes of the same resources, such as m in m7i.large, and
	// Generation between those of one family.
	Family     string
	Generation int
	// LocalDisks says that it has disks that are lost with the host.
	LocalDisks bool
	// Special sizes are used only if they are named: burstable or shared processors,
	// accelerators, bare metal, previous generations.
	Special bool
}

// Boots reports whether an image of the architecture boots on the size.
func (s Size) Boots(architecture string) bool { return slices.Contains(s.Architectures, architecture) }

// Holds reports whether the size has the resources.
func (s Size) Holds(cpu, memoryMB int32) bool { return s.CPU >= cpu && s.MemoryMB >= memoryMB }

// Families is the order of families in which general purpose comes first; those that it
// does not name come last.
type Families []string

// Choose returns the smallest size for a machine, false if there is none. Special sizes
// are left out.
func (f Families) Choose(sizes []Size, cpu, memoryMB int32, architecture string) (best Size, found bool) {
	for _, s := range sizes {
		if s.Special || !s.Holds(cpu, memoryMB) || !s.Boots(architecture) {
			continue
		}
		if !found || f.Compare(s, best) < 0 {
			best, found = s, true
		}
	}
	return best, found
}

// Compare orders sizes: fewer processors, less memory, the order of families, without
// local disks, the newest generation, the shortest name, the name.
func (f Families) Compare(a, b Size) int {
	return cmp.Or(
		cmp.Compare(a.CPU, b.CPU), cmp.Compare(a.MemoryMB, b.MemoryMB), cmp.Compare(f.rank(a), f.rank(b)),
		cmp.Compare(number(a.LocalDisks), number(b.LocalDisks)), cmp.Compare(b.Generation, a.Generation),
		cmp.Compare(len(a.Name), len(b.Name)), strings.Compare(a.Name, b.Name),
	)
}

func (f Families) rank(s Size) int {
	if i := slices.Index(f, s.Family); i >= 0 {
		return i
	}
	return len(f)
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
