// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"math/rand/v2"
	"time"

	"github.com/butlerdotdev/butler/provider"
)

// Polling: fast while something is expected, and otherwise every atRest. A platform
// that pushes changes is asked every half to whole resync, in case that it did not.
const (
	soon       = 200 * time.Millisecond
	deleteSoon = 400 * time.Millisecond
	pushedSoon = 3 * time.Second
	pushedMost = 30 * time.Second
	youngMost  = 2 * time.Second
	youngFor   = 5 * time.Minute
	atRest     = 10 * time.Second
	resync     = 10 * time.Minute
)

// Retries: what is transient, and what needs a change.
const (
	backoffFirst   = time.Second
	backoffMost    = 15 * time.Second
	exhaustedMost  = time.Minute
	attentionFirst = 15 * time.Second
	attentionMost  = time.Minute
)

// Pace says when to look again.
type Pace int

// The paces.
const (
	// Steady: nothing is expected.
	Steady Pace = iota
	// Young: something is about to happen.
	Young
	// Backoff: the platform has a problem of its own.
	Backoff
	// Slow: nothing improves without a change.
	Slow
)

// Outlook is what a pass expects of the next one.
type Outlook struct {
	Pace     Pace
	Deleting bool
	// Push says that the platform pushes changes, and says so when it cannot; then it
	// is hardly polled.
	Push bool
	// Err is why the platform could not be asked, or what it refused.
	Err error
	// Within bounds the wait of a Backoff; zero means no bound.
	Within time.Duration
}

// Next returns how long to wait before the next pass.
func (n *Note) Next(o Outlook, now time.Time) time.Duration {
	if n.since.IsZero() || n.since.After(now) || n.expecting != o.Pace || n.deleting != o.Deleting {
		n.since, n.expecting, n.deleting = now, o.Pace, o.Deleting
		n.failures = min(n.failures, 1) // those before were of another kind
	}
	if o.Err == nil {
		n.failures = 0
	}
	switch o.Pace {
	case Young:
		return youngPoll(now.Sub(n.since), o)
	case Backoff:
		return n.retry(o)
	case Slow:
		return jitter(double(attentionFirst, attentionMost, n.failures))
	default:
		if o.Push {
			return resync - rand.N(resync/2)
		}
		return untilTurn(now)
	}
}

// untilTurn is when machines at rest are looked at again: all at once, so that one listing of
// the platform answers for all of them.
func untilTurn(now time.Time) time.Duration {
	return now.Truncate(atRest).Add(atRest).Sub(now)
}

func (n *Note) retry(o Outlook) time.Duration {
	most := backoffMost
	if provider.KindOf(o.Err) == provider.Exhausted {
		most = exhaustedMost
	}
	after := jitter(double(backoffFirst, most, n.failures))
	if o.Within > 0 {
		return min(after, o.Within)
	}
	return after
}

func youngPoll(elapsed time.Duration, o Outlook) time.Duration {
	switch {
	case o.Push:
		return min(max(elapsed, pushedSoon), pushedMost)
	case elapsed > youngFor:
		return jitter(atRest)
	case o.Deleting:
		return min(max(elapsed/4, deleteSoon), youngMost)
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
