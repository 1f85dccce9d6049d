// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/butlerdotdev/butler/provider"
)

// Polling: fast while something is expected, and never rarer than atRest.
const (
	soon       = 200 * time.Millisecond
	pushedSoon = time.Second
	youngMost  = 2 * time.Second
	youngFor   = 5 * time.Minute
	atRest     = 10 * time.Second
)

// Retries: what passes by itself, and what somebody has to mend.
const (
	backoffFirst   = time.Second
	backoffMost    = 15 * time.Second
	exhaustedMost  = time.Minute
	attentionFirst = time.Minute
	attentionMost  = 5 * time.Minute
)

// memory is what may be lost: a restart only makes the reconciler more patient.
type memory struct {
	mu    sync.Mutex
	notes map[types.UID]*note
}

// note is about one request. A request is reconciled by one worker at a time, so
// its note needs no lock.
type note struct {
	// superseded are the resource versions that the last pass has replaced; to
	// read one of them again means that the cache is behind.
	superseded []string
	missing    time.Time // since when the machine is not to be seen
	failing    time.Time // since when the platform cannot be asked
	failures   int
	since      time.Time // since when something is expected
	expecting  pace
	deleting   bool
}

func (m *memory) of(uid types.UID) *note {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, ok := m.notes[uid]
	if !ok {
		if m.notes == nil {
			m.notes = map[types.UID]*note{}
		}
		n = &note{}
		m.notes[uid] = n
	}
	return n
}

func (m *memory) forget(uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.notes, uid)
}

// replaced notes that a write has replaced the resource version old.
func (n *note) replaced(old, now string) {
	if old != now {
		n.superseded = append(n.superseded, old)
	}
}

func (n *note) behind(version string) bool { return slices.Contains(n.superseded, version) }

// saw notes what the platform answered.
func (n *note) saw(m provider.Machine, err error, now time.Time) {
	if err != nil {
		n.failures++
		n.failing = first(n.failing, now)
		return
	}
	n.failures, n.failing = 0, time.Time{}
	if m.ID != "" {
		n.missing = time.Time{}
		return
	}
	n.missing = first(n.missing, now)
}

// settled reports whether a machine that is not to be seen really is not there.
func (n *note) settled(attempt time.Time, settle time.Duration, now time.Time) bool {
	if settle == 0 {
		return true
	}
	return !n.missing.IsZero() && now.Sub(n.missing) >= settle && now.Sub(attempt) >= settle
}

func (n *note) failingFor(now time.Time) time.Duration {
	if n.failing.IsZero() {
		return 0
	}
	return now.Sub(n.failing)
}

// next is when to look again. A platform that pushes is polled more slowly.
func (n *note) next(f facts, d decision, push bool, now time.Time) time.Duration {
	if n.since.IsZero() || n.expecting != d.pace || n.deleting != f.deleting {
		n.since, n.expecting, n.deleting = now, d.pace, f.deleting
	}
	switch d.pace {
	case young:
		return youngPoll(now.Sub(n.since), push && !f.deleting)
	case backoff:
		return n.retry(f, d)
	case slow:
		return jitter(double(attentionFirst, attentionMost, n.failures))
	default:
		return jitter(atRest)
	}
}

func (n *note) retry(f facts, d decision) time.Duration {
	most := backoffMost
	if provider.KindOf(f.err) == provider.Exhausted {
		most = exhaustedMost
	}
	after := jitter(double(backoffFirst, most, n.failures))
	if left := patience - f.failing; d.keep && left > 0 {
		return min(after, left)
	}
	return after
}

func youngPoll(elapsed time.Duration, push bool) time.Duration {
	switch {
	case push:
		return min(max(elapsed/5, pushedSoon), atRest)
	case elapsed > youngFor:
		return jitter(atRest)
	default:
		return min(max(elapsed/10, soon), youngMost)
	}
}

// double grows from first with every failure, up to most.
func double(first, most time.Duration, failures int) time.Duration {
	return min(first<<min(max(failures-1, 0), 10), most)
}

// jitter shortens d by up to a tenth, so that requests do not move in step.
func jitter(d time.Duration) time.Duration {
	return d - rand.N(d/10)
}

func first(t, now time.Time) time.Time {
	if t.IsZero() {
		return now
	}
	return t
}
