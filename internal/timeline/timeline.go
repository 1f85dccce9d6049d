// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"slices"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/history"
)

// Timeline is one run.
type Timeline struct {
	Cluster string    `json:"cluster"`
	Begin   time.Time `json:"begin"`
	End     time.Time `json:"end"`
	// Ready says that the run has ended in a cluster that is.
	Ready bool  `json:"ready"`
	Rows  []Row `json:"rows"`
}

// Row is the life of one thing: the phases and the waits of the cluster have one row each,
// every machine and addon has its own.
type Row struct {
	Kind  Kind   `json:"kind"`
	Name  string `json:"name"`
	Spans []Span `json:"spans"`
}

// Span is a time in one state.
type Span struct {
	State string    `json:"state"`
	Begin time.Time `json:"begin"`
	End   time.Time `json:"end"`
	// Critical says that the run would have been shorter if this had been.
	Critical bool `json:"critical,omitempty"`
}

// Seconds returns the length of a span.
func (s Span) Seconds() float64 { return s.End.Sub(s.Begin).Seconds() }

// New returns the timeline of a record; now is the end of one that is not Ready.
func New(cluster string, all []Entry, now time.Time) Timeline {
	t := Timeline{Cluster: cluster}
	if len(all) == 0 {
		return t
	}
	t.Begin, t.End = all[0].Time, now
	if i := slices.IndexFunc(all, isReady); i >= 0 {
		t.Ready, t.End = true, all[i].Time
		all = all[:i]
	}
	for _, kind := range []Kind{KindPhase, KindWait, KindMachine, KindAddon} {
		for _, name := range namesOf(all, kind) {
			t.Rows = append(t.Rows, Row{Kind: kind, Name: name, Spans: t.spans(all, kind, name)})
		}
	}
	t.markCritical()
	return t
}

func isReady(e Entry) bool { return e.Kind == KindPhase && e.State == string(v1alpha1.BootstrapReady) }

// namesOf are the names of a kind in the order of their first entry.
func namesOf(all []Entry, kind Kind) (out []string) {
	for _, e := range all {
		if e.Kind == kind && !slices.Contains(out, e.Name) {
			out = append(out, e.Name)
		}
	}
	return out
}

// Phases returns how long the bootstrap was in each phase, the present one last.
func (t Timeline) Phases() []history.Phase {
	var s history.Stopwatch
	for _, r := range t.Rows {
		if r.Kind != KindPhase {
			continue
		}
		for _, span := range r.Spans {
			s.See(v1alpha1.ClusterBootstrapPhase(span.State), span.Begin)
		}
		s.See(v1alpha1.BootstrapReady, t.End)
	}
	return s.Phases()
}

func (t Timeline) spans(all []Entry, kind Kind, name string) (out []Span) {
	for _, e := range all {
		if e.Kind != kind || e.Name != name {
			continue
		}
		if n := len(out); n > 0 {
			out[n-1].End = e.Time
		}
		out = append(out, Span{State: e.State, Begin: e.Time, End: t.End})
	}
	return slices.DeleteFunc(out, func(s Span) bool { return s.State == "" || !s.End.After(s.Begin) })
}

// works reports whether a thing is brought forward in a state: one that is Ready is done, and
// one that is Pending waits for others.
func works(kind Kind, state string) bool {
	switch kind {
	case KindMachine:
		return state != stateReady && state != string(v1alpha1.MachineDeleting)
	case KindAddon:
		return state == string(v1alpha1.AddonInstalling) || state == string(v1alpha1.AddonWaiting) || state == string(v1alpha1.AddonFailing)
	default:
		return false
	}
}
