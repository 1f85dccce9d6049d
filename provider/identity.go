// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import "strings"

// Identity identifies one installation of a platform. It is a list of marks
// `name=value`, separated by commas, the most certain one first; empty means that
// the platform cannot be identified. It has no secret in it, and it does not
// depend on the credentials except for how many marks they may read.
type Identity string

// Likeness is the result of a comparison of identities.
type Likeness int

// The likenesses.
const (
	// Incomparable: the identities have no mark in common.
	Incomparable Likeness = iota
	// Same: both identify one platform.
	Same
	// Different: they identify two platforms.
	Different
)

// NewIdentity returns the identity with these marks; one without a value is left
// out.
func NewIdentity(marks ...Mark) Identity {
	var all []string
	for _, m := range marks {
		if m.Value != "" {
			all = append(all, m.Name+"="+m.Value)
		}
	}
	return Identity(strings.Join(all, ","))
}

// Mark is a property of a platform that no other installation has.
type Mark struct{ Name, Value string }

// Compare compares two identities by the first mark that both have.
func (i Identity) Compare(other Identity) Likeness {
	theirs := other.marks()
	for _, m := range i.marks() {
		for _, t := range theirs {
			switch {
			case m.Name != t.Name:
			case m.Value == t.Value:
				return Same
			default:
				return Different
			}
		}
	}
	return Incomparable
}

func (i Identity) marks() (all []Mark) {
	for text := range strings.SplitSeq(string(i), ",") {
		if name, value, ok := strings.Cut(text, "="); ok {
			all = append(all, Mark{name, value})
		}
	}
	return all
}
