// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"testing"
	"time"

	"github.com/butlerdotdev/butler/provider"
)

func TestPollingIsFastWhileYoungAndNeverRarerThanTenSeconds(t *testing.T) {
	start := time.Now()
	n, f, d := &note{}, facts{}, decision{pace: young}
	if got := n.next(f, d, false, start); got != soon {
		t.Errorf("first poll after %v", got)
	}
	for elapsed := time.Duration(0); elapsed < 20*time.Minute; elapsed += time.Second {
		got := n.next(f, d, false, start.Add(elapsed))
		if got > atRest || elapsed < time.Minute && got > youngMost {
			t.Fatalf("after %v the next poll comes %v later", elapsed, got)
		}
	}
}

func TestPollingIsSlowerWhereThePlatformPushes(t *testing.T) {
	n := &note{}
	if got := n.next(facts{}, decision{pace: young}, true, time.Now()); got < pushedSoon {
		t.Errorf("first poll after %v", got)
	}
}

func TestBackoffGrowsAndIsBounded(t *testing.T) {
	n := &note{}
	last := time.Duration(0)
	for range 20 {
		n.saw(provider.Machine{}, fault(provider.Unavailable), time.Now())
		last = n.next(facts{err: fault(provider.Unavailable)}, decision{pace: backoff}, false, time.Now())
		if last > backoffMost || last < backoffFirst*9/10 {
			t.Fatalf("retry after %v", last)
		}
	}
	if last < backoffMost*9/10 {
		t.Errorf("backoff ends at %v", last)
	}
}

func TestARunningMachineIsAskedWhenItsMinuteIsOver(t *testing.T) {
	n := &note{failures: 10}
	f := facts{phase: "Running", err: fault(provider.Unavailable), failing: 57 * time.Second}
	if got := n.next(f, decide(f), false, time.Now()); got > 3*time.Second {
		t.Errorf("asked again after %v", got)
	}
}

func TestWhatNeedsAttentionIsRetriedEveryOneToFiveMinutes(t *testing.T) {
	n := &note{}
	for range 10 {
		n.failures++
		got := n.next(facts{err: fault(provider.Invalid)}, decision{pace: slow}, false, time.Now())
		if got < 54*time.Second || got > 5*time.Minute {
			t.Errorf("retry %d after %v", n.failures, got)
		}
	}
}

func TestSettledNeedsTheWholeWindowSinceAttemptAndSinceMissing(t *testing.T) {
	now := time.Now()
	n := &note{}
	if !n.settled(now, 0, now) {
		t.Error("a platform without window is always settled")
	}
	if n.settled(now.Add(-time.Hour), time.Minute, now) {
		t.Error("settled before the machine was missed")
	}
	n.saw(provider.Machine{State: provider.StateAbsent}, nil, now)
	later := now.Add(time.Minute)
	if n.settled(later.Add(-time.Second), time.Minute, later) {
		t.Error("settled right after an attempt")
	}
	if !n.settled(now, time.Minute, later) {
		t.Error("not settled after the window")
	}
	n.saw(in(provider.StatePending), nil, later)
	if n.settled(now, time.Minute, later.Add(time.Hour)) {
		t.Error("settled although the machine was seen")
	}
}

func TestOwnWritesAreRecognisedInAStaleCache(t *testing.T) {
	n := &note{}
	n.replaced("1", "2")
	n.replaced("2", "2")
	if !n.behind("1") || n.behind("2") {
		t.Errorf("superseded: %v", n.superseded)
	}
}
