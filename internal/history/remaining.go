// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"slices"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Remaining is how long a bootstrap still takes if it takes as long as earlier runs.
type Remaining struct {
	Total Estimate `json:"total"`
	// Phases has the rest of the present phase, and the phases after it.
	Phases []Estimate `json:"phases"`
	// Overdue says that the present phase already takes longer than in each of the runs.
	Overdue bool `json:"overdue,omitempty"`
}

// NewRemaining estimates how long a bootstrap still takes that has been in a phase for so many
// seconds. It is nil if no run of the kind had the phase.
func NewRemaining(runs []Run, k Kind, now Phase) *Remaining {
	rests := rests(runs, k, now)
	total, known := Total(rests, k)
	if !known {
		return nil
	}
	r := &Remaining{Total: total, Phases: Estimates(rests, k)}
	r.Overdue = r.Phases[0].Most == 0
	return r
}

// rests is what followed in earlier runs when they had been in a phase for so long.
func rests(runs []Run, k Kind, now Phase) (out []Run) {
	for _, r := range runs {
		i := slices.IndexFunc(r.Phases, func(p Phase) bool { return p.Name == now.Name })
		if r.Kind != k || i < 0 {
			continue
		}
		rest := Run{Kind: k, Phases: slices.Clone(r.Phases[i:])}
		rest.Phases[0].Seconds = max(0, rest.Phases[0].Seconds-now.Seconds)
		out = append(out, rest)
	}
	return out
}

// KindOf returns the kind of a cluster. In a rehearsal the profile of the simulated platform is
// that of its setup, which may be empty.
func KindOf(p v1alpha1.ProviderType, t v1alpha1.Topology, rehearsal bool, profile string) Kind {
	k := Kind{Provider: p, Topology: t}
	if rehearsal {
		k.Profile = cmp.Or(profile, "simulated")
	}
	return k
}
