// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"slices"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Stopwatch measures the phases of a bootstrap.
type Stopwatch struct {
	phases []Phase
	since  time.Time // of the last phase
}

// See notes the phase that the bootstrap is in. The time of one that is entered again is
// added up.
func (s *Stopwatch) See(phase v1alpha1.ClusterBootstrapPhase, now time.Time) {
	if phase == "" || len(s.phases) > 0 && s.last().Name == phase {
		return
	}
	s.stop(now)
	if i := slices.IndexFunc(s.phases, func(p Phase) bool { return p.Name == phase }); i >= 0 {
		again := s.phases[i]
		s.phases = append(slices.Delete(s.phases, i, i+1), again)
		return
	}
	s.phases = append(s.phases, Phase{Name: phase})
}

// Phases returns what was measured, without the phase that the bootstrap is in.
func (s *Stopwatch) Phases() []Phase {
	if len(s.phases) == 0 {
		return nil
	}
	return slices.Clone(s.phases[:len(s.phases)-1])
}

func (s *Stopwatch) stop(now time.Time) {
	if len(s.phases) > 0 {
		s.last().Seconds += now.Sub(s.since).Seconds()
	}
	s.since = now
}

func (s *Stopwatch) last() *Phase { return &s.phases[len(s.phases)-1] }
