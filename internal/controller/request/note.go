// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package request is what the reconcilers of all kinds of requests share: how a
// request is claimed and written, what is remembered about it between passes,
// and when to look again. What a request means is up to the reconciler.
package request

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/butlerdotdev/butler/internal/controller/lag"
	"github.com/butlerdotdev/butler/provider"
)

// What a call whose answer is not known may still bring about.
const (
	// inFlight is for how long after the attempt it may take effect: its sender tries
	// for CallTimeout, and an API server works on what it has received for up to a
	// minute more, also if the sender is gone.
	inFlight = CallTimeout + time.Minute
	// unanswered is for how long nothing must be seen in any case: the time of the
	// attempt may be that of another clock.
	unanswered = 10 * time.Second
)

// Memory is what may be lost: a restart only makes a reconciler more patient.
// The zero value is empty and ready.
type Memory struct {
	mu    sync.Mutex
	notes map[types.UID]*Note
}

// Note is about one request. A request is reconciled by one worker at a time, so
// its note needs no lock.
type Note struct {
	// Applied is the generation of the spec that the platform was last brought
	// in line with.
	Applied int64

	replaced  lag.Versions
	answered  bool      // the last call that creates had an answer
	refused   error     // that answer, if the platform has definitely refused
	missing   time.Time // since when nothing is to be seen on the platform
	failing   time.Time // since when the platform cannot be asked
	failures  int       // passes in a row that ended with an error
	since     time.Time // since when something is expected
	expecting Pace
	deleting  bool
}

// Of returns the note about a request, an empty one at first.
func (m *Memory) Of(uid types.UID) *Note {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, ok := m.notes[uid]
	if !ok {
		if m.notes == nil {
			m.notes = map[types.UID]*Note{}
		}
		n = &Note{}
		m.notes[uid] = n
	}
	return n
}

// Forget drops the note about a request that is gone.
func (m *Memory) Forget(uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.notes, uid)
}

// Begin starts a pass over a request of that resource version. It reports false
// if the last pass has replaced that version: the cache is behind.
func (n *Note) Begin(version string) bool { return n.replaced.Begin(version) }

// Saw notes what the platform answered: an error, or whether it showed anything.
// Failures are counted until a whole pass ends without one: a platform that
// answers but refuses to create must not be asked ever faster.
func (n *Note) Saw(present bool, err error, now time.Time) {
	if err != nil {
		n.failures++
		n.failing = first(n.failing, now)
		return
	}
	n.failing = time.Time{}
	if present {
		n.missing = time.Time{}
		return
	}
	n.missing = first(n.missing, now)
}

// Asking notes that something is about to be created: what was missing before
// says nothing any more.
func (n *Note) Asking() { n.missing, n.answered, n.refused = time.Time{}, false, nil }

// Answered notes how the platform answered that. Unavailable is no answer.
func (n *Note) Answered(err error) {
	n.answered = err == nil || provider.KindOf(err) != provider.Unavailable
	if n.answered {
		n.refused = err
	}
}

// Window is how long to wait before what is not to be seen counts as gone: since
// the last attempt to create it, and since it is missing.
type Window struct{ Attempt, Missing time.Duration }

// Settling is the window of a platform that shows late what it has.
func Settling(settle time.Duration) Window { return Window{settle, settle} }

// Window returns how long to wait before something counts as gone for good: a call
// whose answer is not known, perhaps as its sender died, may still take effect.
// What was shown once has been created, so that no such call is expected.
func (n *Note) Window(settle time.Duration, shown bool) Window {
	switch {
	case n.answered:
		return Settling(settle)
	case shown:
		return Settling(max(settle, unanswered))
	default:
		return Window{Attempt: max(settle, inFlight), Missing: max(settle, unanswered)}
	}
}

// Settled reports whether what is not to be seen really is not there.
func (n *Note) Settled(attempt time.Time, w Window, now time.Time) bool {
	if w == (Window{}) {
		return true
	}
	// An attempt that lies ahead was recorded by a clock that was put back since.
	passed := now.Sub(attempt) >= w.Attempt || attempt.After(now)
	return passed && !n.missing.IsZero() && now.Sub(n.missing) >= w.Missing
}

// FailingFor returns for how long the platform could not be queried.
func (n *Note) FailingFor(now time.Time) time.Duration {
	if n.failing.IsZero() {
		return 0
	}
	return now.Sub(n.failing)
}

// first is when something began. A beginning that lies ahead was recorded by a clock
// that was put back since: it counts from now on.
func first(t, now time.Time) time.Time {
	if t.IsZero() || t.After(now) {
		return now
	}
	return t
}
