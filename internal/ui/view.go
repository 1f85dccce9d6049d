// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"slices"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Outcome is how a bootstrap ended.
type Outcome string

// The outcomes.
const (
	Running     Outcome = ""
	Ready       Outcome = "ready"
	Failed      Outcome = "failed"
	Interrupted Outcome = "interrupted"
)

// View is a bootstrap as people follow it on a terminal: its state, and since
// when each part of it has been so.
type View struct {
	// Title is which cluster is made, and where.
	Title string
	Begin time.Time
	State
	// Since is when the obstacle appeared.
	Since    time.Time
	Phases   []Span
	Machines []Machine
	Addons   []Addon
	Warnings []string
	Outcome  Outcome
	// End is when there was an outcome.
	End time.Time
}

// Span is a phase and the time that it took. The present one has no end.
type Span struct {
	Phase      v1alpha1.ClusterBootstrapPhase
	Begin, End time.Time
}

// Machine is a machine and since when it has been as it is.
type Machine struct {
	v1alpha1.BootstrapMachineStatus
	Since time.Time
}

// Addon is an addon and since when it has been in its phase: what it waits for
// in there may change often.
type Addon struct {
	v1alpha1.BootstrapAddonStatus
	Since time.Time
}

// Next is the view after the bootstrap was seen in a state. The given view
// stays as it is.
func (v View) Next(s State, now time.Time) View {
	if s.Phase != v.Phase {
		v.Phases = entered(v.Phases, s.Phase, now)
	}
	if s.Obstacle != v.Obstacle {
		v.Since = now
	}
	known := v.Machines
	v.Machines = make([]Machine, 0, len(s.Machines))
	for _, m := range s.Machines {
		since := now
		if i := slices.IndexFunc(known, func(k Machine) bool { return k.BootstrapMachineStatus == m }); i >= 0 {
			since = known[i].Since
		}
		v.Machines = append(v.Machines, Machine{m, since})
	}
	v.Addons = follow(v.Addons, s.Addons, now)
	v.State = s
	return v
}

func follow(known []Addon, seen []v1alpha1.BootstrapAddonStatus, now time.Time) []Addon {
	out := make([]Addon, 0, len(seen))
	for _, a := range seen {
		since := now
		same := func(k Addon) bool { return k.Name == a.Name && k.Version == a.Version && k.Phase == a.Phase }
		if i := slices.IndexFunc(known, same); i >= 0 {
			since = known[i].Since
		}
		out = append(out, Addon{a, since})
	}
	return out
}

// entered ends the current phase and begins another. A phase that is entered again
// continues: its time counts from its first beginning.
func entered(spans []Span, phase v1alpha1.ClusterBootstrapPhase, now time.Time) []Span {
	out := slices.Clone(spans)
	for i := range out {
		if out[i].End.IsZero() {
			out[i].End = now
		}
	}
	i := slices.IndexFunc(out, func(s Span) bool { return s.Phase == phase })
	if i < 0 {
		return append(out, Span{Phase: phase, Begin: now})
	}
	out[i].End = time.Time{}
	return out
}

// Ended is the view with its outcome.
func (v View) Ended(o Outcome, now time.Time) View {
	v.Outcome, v.End = o, now
	return v
}

// Warned is the view with one more warning, unless it is known.
func (v View) Warned(text string) View {
	if !slices.Contains(v.Warnings, text) {
		v.Warnings = append(slices.Clone(v.Warnings), text)
	}
	return v
}
