// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"errors"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

func fault(k provider.Kind) error {
	return &provider.Error{Kind: k, Op: "try", Err: errors.New("said so")}
}

func TestPollingIsFastWhileYoungAndNeverRarerThanTenSeconds(t *testing.T) {
	start := time.Now()
	n, o := &Note{}, Outlook{Pace: Young}
	if got := n.Next(o, start); got != soon {
		t.Errorf("first poll after %v", got)
	}
	for elapsed := time.Duration(0); elapsed < 20*time.Minute; elapsed += time.Second {
		got := n.Next(o, start.Add(elapsed))
		if got > atRest || elapsed < time.Minute && got > youngMost {
			t.Fatalf("after %v the next poll comes %v later", elapsed, got)
		}
	}
}

func TestPollingIsSlowerWhereThePlatformPushes(t *testing.T) {
	for _, deleting := range []bool{false, true} {
		n, o := &Note{}, Outlook{Pace: Young, Push: true, Deleting: deleting}
		polls := 0
		start := time.Now()
		for at := start; at.Sub(start) < 27*time.Second; polls++ {
			at = at.Add(n.Next(o, at))
		}
		if polls > 5 {
			t.Errorf("deleting %v: a machine that takes 27 s is polled %d times", deleting, polls)
		}
	}
}

func TestWhatIsLeftOfADeletionIsPolled(t *testing.T) {
	start := time.Now()
	n, o := &Note{}, Outlook{Pace: Young, Deleting: true}
	if got := n.Next(o, start); got != deleteSoon {
		t.Errorf("first poll after %v", got)
	}
	if got := n.Next(o, start.Add(time.Minute)); got != youngMost {
		t.Errorf("after a minute the next poll comes after %v", got)
	}
}

func TestAMachineAtRestIsHardlyPolledWhereThePlatformPushes(t *testing.T) {
	n := &Note{}
	var sum time.Duration
	const passes = 1000
	for range passes {
		got := n.Next(Outlook{Pace: Steady, Push: true}, time.Now())
		if got > resync || got < resync/2 {
			t.Fatalf("the next poll comes after %v", got)
		}
		sum += got
	}
	if mean := sum / passes; mean < resync*7/10 || mean > resync*8/10 {
		t.Errorf("polls are not spread: %v apart in the mean", mean)
	}
}

func TestMachinesAtRestArePolledTogether(t *testing.T) {
	turns := map[time.Time]bool{}
	for start, i := time.Now().Truncate(atRest), 0; i < 100; i++ {
		now := start.Add(time.Duration(i) * atRest / 100)
		got := (&Note{}).Next(Outlook{Pace: Steady}, now)
		if got <= 0 || got > atRest {
			t.Fatalf("the next poll comes after %v", got)
		}
		turns[now.Add(got)] = true
	}
	if len(turns) != 1 {
		t.Errorf("they are polled at %v", turns)
	}
}

func TestBackoffGrowsAndIsBounded(t *testing.T) {
	n := &Note{}
	last := time.Duration(0)
	for range 20 {
		n.Saw(false, fault(provider.Unavailable), time.Now())
		last = n.Next(Outlook{Pace: Backoff, Err: fault(provider.Unavailable)}, time.Now())
		if last > backoffMost || last < backoffFirst*9/10 {
			t.Fatalf("retry after %v", last)
		}
	}
	if last < backoffMost*9/10 {
		t.Errorf("backoff ends at %v", last)
	}
}

func TestBackoffGrowsAlsoWhenOnlyTheSecondCallOfAPassFails(t *testing.T) {
	n, o := &Note{}, Outlook{Pace: Backoff, Err: fault(provider.Exhausted)}
	var last time.Duration
	for range 5 {
		n.Saw(false, nil, time.Now())
		n.Saw(false, o.Err, time.Now())
		last = n.Next(o, time.Now())
	}
	if last < 10*time.Second {
		t.Errorf("the fifth retry comes after %v", last)
	}
	n.Next(Outlook{Pace: Steady}, time.Now())
	n.Saw(false, o.Err, time.Now())
	if got := n.Next(o, time.Now()); got > backoffFirst {
		t.Errorf("after a pass without error the first retry comes after %v", got)
	}
}

func TestABackoffKeepsItsBound(t *testing.T) {
	n := &Note{failures: 10, since: time.Now(), expecting: Backoff}
	o := Outlook{Pace: Backoff, Err: fault(provider.Unavailable), Within: 3 * time.Second}
	if got := n.Next(o, time.Now()); got > 3*time.Second {
		t.Errorf("asked again after %v", got)
	}
}

func TestWhatNeedsAttentionIsRetriedSoonAndLaterEveryMinute(t *testing.T) {
	n := &Note{}
	for _, most := range []time.Duration{15 * time.Second, 30 * time.Second, time.Minute, time.Minute} {
		n.failures++
		got := n.Next(Outlook{Pace: Slow, Err: fault(provider.Invalid)}, time.Now())
		if got < most*9/10 || got > most {
			t.Errorf("retry %d after %v", n.failures, got)
		}
	}
}

func TestSettledNeedsTheWholeWindowSinceAttemptAndSinceMissing(t *testing.T) {
	now := time.Now()
	n := &Note{}
	if !n.Settled(now, Window{}, now) {
		t.Error("a platform without window is always settled")
	}
	if n.Settled(now.Add(-time.Hour), Settling(time.Minute), now) {
		t.Error("settled before anything was missed")
	}
	n.Saw(false, nil, now)
	later := now.Add(time.Minute)
	if n.Settled(later.Add(-time.Second), Settling(time.Minute), later) {
		t.Error("settled right after an attempt")
	}
	if !n.Settled(now, Settling(time.Minute), later) {
		t.Error("not settled after the window")
	}
	n.Saw(true, nil, later)
	if n.Settled(now, Settling(time.Minute), later.Add(time.Hour)) {
		t.Error("settled although it was seen")
	}
}

func TestOwnWritesAreRecognisedInAStaleCache(t *testing.T) {
	n := &Note{}
	n.replaced.Replace("1", "2")
	n.replaced.Replace("2", "2")
	if n.Begin("1") {
		t.Error("a pass began with a version that was replaced")
	}
	if !n.Begin("2") || !n.Begin("1") {
		t.Error("a pass was refused although the cache had caught up")
	}
}

func TestTroubleOfAnotherKindBeginsWithItsShortestWait(t *testing.T) {
	n := &Note{}
	for range 8 {
		n.Saw(false, fault(provider.Unavailable), time.Now())
		n.Next(Outlook{Pace: Backoff, Err: fault(provider.Unavailable)}, time.Now())
	}
	n.Saw(false, fault(provider.Invalid), time.Now())
	if got := n.Next(Outlook{Pace: Slow, Err: fault(provider.Invalid)}, time.Now()); got > attentionFirst {
		t.Errorf("looks again after %v, want at most %v", got, attentionFirst)
	}
}

func TestAClockThatIsPutBackHoldsNothingUp(t *testing.T) {
	now := time.Unix(1e9, 0)
	n := &Note{}
	n.Asking()
	attempt := now
	n.Saw(false, nil, now)
	now = now.Add(-time.Hour)
	n.Saw(false, nil, now)
	if n.Settled(attempt, Settling(time.Minute), now.Add(time.Minute-1)) {
		t.Error("settled before the window was over")
	}
	if !n.Settled(attempt, Settling(time.Minute), now.Add(time.Minute)) {
		t.Error("not settled a window after the clock was put back")
	}
	n.Saw(false, errors.New("down"), now)
	now = now.Add(-time.Hour)
	n.Saw(false, errors.New("down"), now)
	if got := n.FailingFor(now.Add(time.Minute)); got != time.Minute {
		t.Errorf("failing for %v", got)
	}
}

func TestACallWithoutAnAnswerIsWaitedFor(t *testing.T) {
	const settle = 4 * time.Second
	asked := &Note{}
	asked.Asking()
	answered := &Note{}
	answered.Answered(nil)
	refused := &Note{}
	refused.Answered(fault(provider.Invalid))
	for reason, tc := range map[string]struct {
		note  *Note
		shown bool
		want  Window
	}{
		"after a restart":                   {note: &Note{}, want: Window{90 * time.Second, 10 * time.Second}},
		"asked, and not answered":           {note: asked, want: Window{90 * time.Second, 10 * time.Second}},
		"after a restart, but it was shown": {note: &Note{}, shown: true, want: Window{10 * time.Second, 10 * time.Second}},
		"answered":                          {note: answered, want: Window{settle, settle}},
		"refused":                           {note: refused, want: Window{settle, settle}},
	} {
		if got := tc.note.Window(settle, tc.shown); got != tc.want {
			t.Errorf("%s: %v", reason, got)
		}
	}
	start := time.Unix(1e9, 0)
	n := &Note{}
	n.Saw(false, nil, start.Add(time.Minute))
	for after, want := range map[time.Duration]bool{60 * time.Second: false, 71 * time.Second: false, 89 * time.Second: false, 90 * time.Second: true} {
		if got := n.Settled(start, n.Window(0, false), start.Add(after)); got != want {
			t.Errorf("settled %v after the attempt: %v", after, got)
		}
	}
}

// TestACreateThatIsNotRecognisedIsRepeatedLate wants a platform without idempotency to be asked
// again only when a call without an answer can have no effect any more.
func TestACreateThatIsNotRecognisedIsRepeatedLate(t *testing.T) {
	const settle = 20 * time.Second
	answered := &Note{}
	answered.Asking()
	answered.Answered(nil)
	for name, tc := range map[string]struct {
		unrepeatable bool
		note         *Note
		want         Window
	}{
		"recognised":               {note: &Note{}, want: Settling(settle)},
		"not recognised":           {unrepeatable: true, note: &Note{}, want: Window{inFlight, settle}},
		"not recognised, answered": {unrepeatable: true, note: answered, want: Settling(settle)},
	} {
		p := &Pass[*v1alpha1.MachineRequest, v1alpha1.MachinePhase, provider.Machine]{
			Platform: &provider.Platform{Settle: settle, Unrepeatable: tc.unrepeatable}, note: tc.note,
		}
		if got := p.window(); got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}
