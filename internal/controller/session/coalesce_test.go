// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

// polled is a platform whose listings take their time and can be made to fail.
type polled struct {
	*inmemory.Platform
	takes time.Duration
	err   error
	ended atomic.Int32 // listings that were given up
}

func newPolled(names ...string) *polled {
	p := &polled{Platform: inmemory.New(inmemory.Options{})}
	for _, name := range names {
		p.CreateConflict(machine(name))
	}
	return p
}

func machine(name string) provider.MachineRef {
	return provider.MachineRef{Name: name, Owner: provider.Owner{ID: "owner of " + name}}
}

// list answers with what was there when it was asked.
func (p *polled) list(ctx context.Context) ([]provider.Machine, error) {
	all, _ := p.ObserveAll(ctx)
	select {
	case <-time.After(p.takes):
		return all, p.err
	case <-ctx.Done():
		p.ended.Add(1)
		return nil, ctx.Err()
	}
}

func (p *polled) machines() provider.Machines {
	live := provider.Platform{Machines: p.Platform, ObserveAll: p.list}
	coalesce(&live)
	return live.Machines
}

// counted are the calls of the platform so far.
func (p *polled) counted() string {
	return fmt.Sprintf("%d observed, %d listed", p.Calls(inmemory.Observe), p.Calls(inmemory.List))
}

// states observes machines at the same time and returns how each is reported.
func states(ctx context.Context, m provider.Machines, names ...string) map[string]string {
	found, mu, all := map[string]string{}, sync.Mutex{}, sync.WaitGroup{}
	for _, name := range names {
		all.Go(func() {
			got, err := m.Observe(ctx, machine(name))
			mu.Lock()
			defer mu.Unlock()
			found[name] = string(got.State)
			if err != nil {
				found[name] = err.Error()
			}
		})
		time.Sleep(time.Nanosecond) // in this order
	}
	all.Wait()
	return found
}

func TestASingleObservationIsPassedOnAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPolled("a")
		m, began := p.machines(), time.Now()
		for range 3 {
			if got := states(t.Context(), m, "a")["a"]; got != "Running" {
				t.Error(got)
			}
			if took := time.Since(began); took.Round(time.Millisecond) != 0 {
				t.Errorf("took %s", took)
			}
			time.Sleep(gatherFor)
			began = time.Now()
		}
		if got := p.counted(); got != "3 observed, 0 listed" {
			t.Error(got)
		}
	})
}

func TestObservationsOfAShortTimeShareAListing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPolled("a", "b", "c", "d")
		began := time.Now()
		for name, got := range states(t.Context(), p.machines(), "a", "b", "c", "d") {
			if got != "Running" {
				t.Errorf("%s is %s", name, got)
			}
		}
		if got, took := p.counted(), time.Since(began).Round(time.Millisecond); got != "1 observed, 1 listed" || took != gatherFor {
			t.Errorf("%s after %s", got, took)
		}
	})
}

// TestAMachineOfAnotherIDIsObservedByItself: a listing may have a copy in its place.
func TestAMachineOfAnotherIDIsObservedByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPolled("a", "b", "c")
		m := p.machines()
		listed, err := p.ObserveAll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i, one := range listed {
			ref := one.Ref
			if ref.ID = one.ID; i == len(listed)-1 {
				ref.ID = "another"
			}
			all.Go(func() {
				if _, err := m.Observe(t.Context(), ref); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(time.Nanosecond) // in this order
		}
		all.Wait()
		if got := p.counted(); got != "2 observed, 2 listed" { // one of them above
			t.Error(got)
		}
	})
}

func TestTwoObservationsCostNoListing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPolled("a", "b")
		states(t.Context(), p.machines(), "a", "b")
		if got := p.counted(); got != "2 observed, 0 listed" {
			t.Error(got)
		}
	})
}

func TestAListingAnswersNoCallThatCameAfterItsBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPolled("a", "b", "c")
		p.takes = time.Second
		m := p.machines()
		go states(t.Context(), m, "a", "b", "c")
		time.Sleep(gatherFor + p.takes/2) // the listing is under way
		p.CreateConflict(machine("new"))
		p.Break("b", "burnt")
		began := time.Now()
		got := states(t.Context(), m, "new", "b")
		if got["new"] != "Running" || got["b"] != "Broken" {
			t.Errorf("%v", got)
		}
		if took := time.Since(began).Round(time.Millisecond); took != p.takes/2+p.takes {
			t.Errorf("took %s", took)
		}
		if got := p.counted(); got != "1 observed, 2 listed" {
			t.Error(got)
		}
	})
}

func TestAbsenceIsNotTakenFromAListing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPolled("a", "b")
		p.takes = time.Second
		m := p.machines()
		go func() {
			time.Sleep(gatherFor + p.takes/2)
			p.CreateConflict(machine("late")) // the platform shows it while it lists
		}()
		if got := states(t.Context(), m, "a", "b", "late", "never"); got["late"] != "Running" || got["never"] != "Absent" {
			t.Errorf("%v", got)
		}
		if got := p.counted(); got != "3 observed, 1 listed" {
			t.Error(got)
		}
	})
}

func TestAMachineThatIsListedTwiceIsObserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPolled("a", "b", "c")
		p.CreateConflict(machine("b"))
		if got := states(t.Context(), p.machines(), "a", "b", "c"); got["b"] != "Running" {
			t.Errorf("%v", got)
		}
		if got := p.counted(); got != "2 observed, 1 listed" {
			t.Error(got)
		}
	})
}

func TestAFailedListingFailsEveryCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPolled("a", "b", "c")
		p.err = &provider.Error{Kind: provider.Unauthorized, Reason: "Refused", Op: "list machines", Err: errors.New("no")}
		got := states(t.Context(), p.machines(), "a", "b", "c")
		if got["a"] != "Running" || got["b"] != "list machines: no" || got["c"] != "list machines: no" {
			t.Errorf("%v", got)
		}
	})
}

func TestACallThatIsCancelledLeavesTheOthersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPolled("a", "b", "c")
		p.takes = time.Second
		m := p.machines()
		go states(t.Context(), m, "a", "b")
		time.Sleep(time.Microsecond)
		ctx, cancel := context.WithTimeout(t.Context(), gatherFor+p.takes/2)
		defer cancel()
		began := time.Now()
		_, err := m.Observe(ctx, machine("c"))
		if provider.KindOf(err) != provider.Unavailable || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != gatherFor+p.takes/2 {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		time.Sleep(p.takes)
		synctest.Wait()
		if p.ended.Load() != 0 || p.Calls(inmemory.List) != 1 {
			t.Errorf("the listing was given up: %s", p.counted())
		}
	})
}

func TestAListingThatNoCallerWaitsForIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPolled("a", "b", "c")
		p.takes = time.Hour
		m := p.machines()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		states(ctx, m, "a", "b", "c")
		synctest.Wait()
		if p.ended.Load() != 1 {
			t.Error("the listing is still under way")
		}
		p.takes = 0
		time.Sleep(gatherFor)
		if got := states(t.Context(), m, "a", "b", "c"); got["c"] != "Running" {
			t.Errorf("%v", got)
		}
	})
}

func TestWhatIsPushedOrCannotBeListedIsNotGathered(t *testing.T) {
	for reason, o := range map[string]inmemory.Options{
		"pushed": {Push: true, Listing: true}, "without a listing": {},
	} {
		p := inmemory.New(o)
		live, err := p.Provider("x").Connect(t.Context(), provider.Config{})
		if err != nil {
			t.Fatal(err)
		}
		before := live.Machines
		if coalesce(&live); live.Machines != before {
			t.Errorf("%s: calls wait for each other", reason)
		}
	}
}

func TestAThousandPolledMachinesCostCallsPerPlatform(t *testing.T) {
	const machines, every, during = 1000, 10 * time.Second, time.Minute
	synctest.Test(t, func(t *testing.T) {
		p := inmemory.New(inmemory.Options{Listing: true})
		s, _ := sessions(t, &driver{}, secret("a"))
		s.provider = p.Provider(s.provider.Type)
		live, err := s.Platform(t.Context(), config())
		if err != nil {
			t.Fatal(err)
		}
		for i := range machines {
			p.CreateConflict(machine(fmt.Sprint(i)))
		}
		var all sync.WaitGroup
		for i := range machines {
			all.Go(func() {
				time.Sleep(every * time.Duration(i) / machines)
				for range during / every {
					if m, err := live.Machines.Observe(t.Context(), machine(fmt.Sprint(i))); err != nil || m.State != provider.StateRunning {
						t.Errorf("%d is %s: %v", i, m.State, err)
					}
					time.Sleep(every)
				}
			})
		}
		all.Wait()
		observed, listed := p.Calls(inmemory.Observe), p.Calls(inmemory.List)
		t.Logf("%d observations of %d machines: %d observed, %d listed", machines*int(during/every), machines, observed, listed)
		if most := int((during + every) / gatherFor); observed+listed > most {
			t.Errorf("%d calls, want at most %d", observed+listed, most)
		}
		s.stop()
	})
}
