// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Course is a plan under way: it knows when it began and how often each fault has
// happened. Both are forgotten with the process. It is safe for concurrent use; a
// nil one has no faults.
type Course struct {
	mu       sync.Mutex
	plan     Plan
	began    time.Time     // zero: not yet
	used     []int         // by place in the plan
	past     []Tally       // of the plans before it
	replaced chan struct{} // closed when another plan takes the place of this one
	moved    chan struct{} // closed when the clock begins, or begins anew
}

// NewCourse returns a plan whose clock stands at zero until it begins.
func NewCourse(p Plan) *Course {
	return &Course{plan: p, used: make([]int, len(p.Faults)), replaced: make(chan struct{}), moved: make(chan struct{})}
}

// Begin starts the plan's clock. It is called when the platform answers.
func (c *Course) Begin() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begin()
}

// begin is called under lock.
func (c *Course) begin() {
	c.began = time.Now()
	close(c.moved)
	c.moved = make(chan struct{})
}

// Replace has another plan take the place of this one. Its clock begins at once.
func (c *Course) Replace(p Plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.past = c.tallies()
	c.plan, c.used = p, make([]int, len(p.Faults))
	close(c.replaced)
	c.replaced = make(chan struct{})
	c.begin()
}

// Replaced is closed when another plan has taken the place of the present one.
func (c *Course) Replaced() <-chan struct{} {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.replaced
}

// Await returns when something is so that depends on the plan, which it asks whenever
// a fault begins or ends; it is false if ctx ended before.
func (c *Course) Await(ctx context.Context, so func() bool) bool {
	for ctx.Err() == nil {
		moved, next := c.next()
		if so() {
			return true
		}
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
		case <-moved:
		case <-timer.C:
		}
		timer.Stop()
	}
	return false
}

// never is longer than any plan.
const never = 1000 * time.Hour

// next is when a fault begins or ends, unless the clock moves before.
func (c *Course) next() (moved <-chan struct{}, in time.Duration) {
	if c == nil {
		return nil, never
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	in = never
	if c.began.IsZero() {
		return c.moved, in
	}
	for _, f := range c.plan.Faults {
		for _, at := range []time.Duration{f.After.Duration, f.After.Duration + f.For.Duration} {
			if left := at - c.elapsed(); left > 0 {
				in = min(in, left)
			}
		}
	}
	return c.moved, in
}

// Strike is the fault that happens to a call, if any.
func (c *Course) Strike(call Call) (Fault, bool) {
	return c.take(func(f Fault) bool { return f.matches(call) && c.isOn(f) })
}

// Stillborn says whether the machine fails at this start.
func (c *Course) Stillborn(machine string) bool {
	_, hit := c.take(func(f Fault) bool {
		return f.Kind == FailedTask && f.Verb == Create && f.names(machine) && c.isOn(f)
	})
	return hit
}

// Death is how long after this start the machine ends by itself, if it does. A
// machine dies once if the plan does not say how often.
func (c *Course) Death(machine string) (time.Duration, bool) {
	f, hit := c.take(func(f Fault) bool { return f.Kind == MachineDies && f.names(machine) })
	return f.After.Duration, hit
}

// Cloned says whether the machine, which runs, is copied now. One machine is if the
// plan does not say how many.
func (c *Course) Cloned(machine string) bool {
	_, hit := c.take(func(f Fault) bool { return f.Kind == Clone && f.names(machine) })
	return hit
}

// Drained says how long after its start the host of a machine is drained, if it is. That
// happens once if the plan does not say how often.
func (c *Course) Drained(machine string) (time.Duration, bool) {
	f, hit := c.take(func(f Fault) bool { return f.Kind == Drain && f.names(machine) })
	return f.After.Duration, hit
}

// Addressless says whether a machine is to have no address after its power-on, and
// for how long; 0 means for ever.
func (c *Course) Addressless(machine string) (time.Duration, bool) {
	f, hit := c.find(func(f Fault) bool { return f.Kind == NoAddress && f.names(machine) })
	return f.For.Duration, hit
}

// Crowded says whether there is no place for the machine now, and when that may be
// different; 0 means never.
func (c *Course) Crowded(machine string) (time.Duration, bool) {
	return c.lasting(func(f Fault) bool { return f.Kind == NoCapacity && f.names(machine) })
}

// Silenced says whether the API server of a control plane has ended, and for how long
// it stays so.
func (c *Course) Silenced(machine string) (time.Duration, bool) {
	return c.lasting(func(f Fault) bool { return f.Kind == APIServerDies && f.names(machine) })
}

// Ails says whether something goes wrong with an addon now, and for how long; 0
// means for ever.
func (c *Course) Ails(k Kind, addon string) (time.Duration, bool) {
	return c.lasting(func(f Fault) bool { return f.ails(k, addon) })
}

// Withheld says whether a request for what an addon is made of fails.
func (c *Course) Withheld(addon string) bool {
	_, hit := c.take(func(f Fault) bool { return f.ails(ChartUnavailable, addon) && c.isOn(f) })
	return hit
}

// On reports whether now is the time of a fault of this kind. It does not count.
func (c *Course) On(k Kind) bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.plan.Faults, func(f Fault) bool { return f.Kind == k && c.isOn(f) })
}

// Plan is what the course follows.
func (c *Course) Plan() Plan {
	if c == nil {
		return Plan{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.plan
}

// Strangers are the machines that take somebody's name.
func (c *Course) Strangers() (all []Fault) {
	for _, f := range c.Plan().Faults {
		if f.Kind == Stranger {
			all = append(all, f)
		}
	}
	return all
}

// isOn says whether now is the fault's time. The caller holds the lock.
func (c *Course) isOn(f Fault) bool {
	passed := c.elapsed() - f.After.Duration
	return passed >= 0 && (f.For.Duration == 0 || passed < f.For.Duration)
}

func (c *Course) elapsed() time.Duration {
	if c.began.IsZero() {
		return 0
	}
	return time.Since(c.began)
}

// take finds the first fault that is not used up.
func (c *Course) take(applies func(Fault) bool) (Fault, bool) {
	return c.look(func(i int, f Fault) bool {
		return (f.limit() == 0 || c.used[i] < f.limit()) && applies(f)
	})
}

// lasting finds a fault whose time is now, and how long it goes on; 0 means for
// ever.
func (c *Course) lasting(applies func(Fault) bool) (left time.Duration, on bool) {
	_, on = c.find(func(f Fault) bool {
		if !applies(f) || !c.isOn(f) {
			return false
		}
		if f.For.Duration > 0 {
			left = max(f.After.Duration+f.For.Duration-c.elapsed(), time.Millisecond)
		}
		return true
	})
	return left, on
}

// find is take for faults that nothing uses up.
func (c *Course) find(applies func(Fault) bool) (Fault, bool) {
	return c.look(func(_ int, f Fault) bool { return applies(f) })
}

// look finds the first fault that hits somebody. It counts.
func (c *Course) look(hits func(int, Fault) bool) (Fault, bool) {
	if c == nil {
		return Fault{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, f := range c.plan.Faults {
		if hits(i, f) {
			c.used[i]++
			return f, true
		}
	}
	return Fault{}, false
}

func (f Fault) limit() int {
	if (f.Kind == MachineDies || f.Kind == Clone || f.Kind == Drain) && f.Times == 0 {
		return 1
	}
	return f.Times
}
