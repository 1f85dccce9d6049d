// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"cmp"
	"slices"
)

// Part is one object on the platform.
type Part struct {
	// Kind is a word for people, one of the constants where one fits.
	Kind string
	// Name is how the platform's own tools show it.
	Name string
}

// Kinds of parts.
const (
	PartMachine      = "machine"
	PartDisk         = "disk"
	PartSecret       = "secret"
	PartAddress      = "address"
	PartLoadBalancer = "load balancer"
)

// ComparePartKinds orders kinds for people: a machine, what it consists of, then the rest
// by name.
func ComparePartKinds(a, b string) int {
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
}

func rank(kind string) int {
	order := []string{PartMachine, PartDisk, PartSecret, PartAddress, PartLoadBalancer}
	if i := slices.Index(order, kind); i >= 0 {
		return i
	}
	return len(order)
}

func compareParts(a, b Part) int {
	return cmp.Or(ComparePartKinds(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
}
