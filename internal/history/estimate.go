// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"slices"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// most is how many runs an estimate is made of: the latest ones.
const most = 20

// Estimate is how long a phase took in earlier runs, in seconds.
type Estimate struct {
	Phase  v1alpha1.ClusterBootstrapPhase `json:"phase"`
	Median float64                        `json:"median"`
	Least  float64                        `json:"least"`
	Most   float64                        `json:"most"`
	// Runs is how many runs had the phase.
	Runs int `json:"runs"`
}

// Estimates returns the times of all phases in the latest runs of a kind, in the order in
// which the latest run had them; none if no run is of that kind.
func Estimates(runs []Run, k Kind) (out []Estimate) {
	runs = slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return r.Kind != k })
	if len(runs) == 0 {
		return nil
	}
	runs = runs[max(0, len(runs)-most):]
	for _, p := range runs[len(runs)-1].Phases {
		out = append(out, estimate(p.Name, runs))
	}
	return out
}

func estimate(phase v1alpha1.ClusterBootstrapPhase, runs []Run) Estimate {
	var all []float64
	for _, r := range runs {
		for _, p := range r.Phases {
			if p.Name == phase {
				all = append(all, p.Seconds)
			}
		}
	}
	slices.Sort(all)
	return Estimate{Phase: phase, Median: median(all), Least: all[0], Most: all[len(all)-1], Runs: len(all)}
}

// median is that of sorted numbers, of which there is at least one.
func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Total returns how long whole runs of a kind took.
func Total(runs []Run, k Kind) (Estimate, bool) {
	var sums []Run
	for _, r := range runs {
		sum := 0.0
		for _, p := range r.Phases {
			sum += p.Seconds
		}
		sums = append(sums, Run{Kind: r.Kind, Phases: []Phase{{Name: v1alpha1.BootstrapReady, Seconds: sum}}})
	}
	all := Estimates(sums, k)
	if len(all) == 0 {
		return Estimate{}, false
	}
	return all[0], true
}
