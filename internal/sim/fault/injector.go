// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Injector injects the faults of a plan: it knows when the plan began and how often each
// fault has happened. Both end with the process. It is safe for concurrent use; a
// nil one has no faults.
type Injector struct {
	mu       sync.Mutex
	plan     Plan
	began    time.Time     // zero: not yet
	used     []int         // by place in the plan
	past     []Tally       // of the plans before it
	replaced chan struct{} // closed when another plan takes the place of this one
	moved    chan struct{} // closed when the clock starts, or starts again
}

// NewInjector returns an injector whose clock stays at zero until Begin.
func NewInjector(p Plan) *Injector {
	return &Injector{plan: p, used: make([]int, len(p.Faults)), replaced: make(chan struct{}), moved: make(chan struct{})}
}

// Begin starts the plan's clock. It is called when the platform answers.
func (c *Injector) Begin() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begin()
}

// begin is called under lock.
func (c *Injector) begin() {
	c.began = time.Now()
	close(c.moved)
	c.moved = make(chan struct{})
}

// Replace replaces the plan. The clock of the new one starts at once.
func (c *Injector) Replace(p Plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.past = c.tallies()
	c.plan, c.used = p, make([]int, len(p.Faults))
	close(c.replaced)
	c.replaced = make(chan struct{})
	c.begin()
}

// Replaced returns a channel that is closed when the present plan is replaced.
func (c *Injector) Replaced() <-chan struct{} {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.replaced
}

// Await waits for a condition that depends on the plan. It checks whenever a fault begins
// or ends, and returns false if ctx ended before.
func (c *Injector) Await(ctx context.Context, condition func() bool) bool {
	for ctx.Err() == nil {
		moved, next := c.next()
		if condition() {
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

// next returns when a fault begins or ends, unless the clock moves before.
func (c *Injector) next() (moved <-chan struct{}, in time.Duration) {
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

// Inject returns the fault that happens to a call, if any, and counts it.
func (c *Injector) Inject(call Call) (Fault, bool) {
	return c.take(func(f Fault) bool { return f.matches(call) && c.isOn(f) })
}

// FailsAtStart reports whether the machine fails at this start.
func (c *Injector) FailsAtStart(machine string) bool {
	_, hit := c.take(func(f Fault) bool {
		return f.Kind == FailedTask && f.Verb == Create && f.names(machine) && c.isOn(f)
	})
	return hit
}

// DiesAfter returns how long after this start the machine ends by itself, if it does. A
// machine dies once if the plan does not say how often.
func (c *Injector) DiesAfter(machine string) (time.Duration, bool) {
	f, hit := c.take(func(f Fault) bool { return f.Kind == MachineDies && f.names(machine) })
	return f.After.Duration, hit
}

// Cloned reports whether the machine, which runs, is copied now. One machine is if the
// plan does not say how many.
func (c *Injector) Cloned(machine string) bool {
	_, hit := c.take(func(f Fault) bool { return f.Kind == Clone && f.names(machine) })
	return hit
}

// DrainedAfter returns how long after its start the host of a machine is drained, if it is. That
// happens once if the plan does not say how often.
func (c *Injector) DrainedAfter(machine string) (time.Duration, bool) {
	f, hit := c.take(func(f Fault) bool { return f.Kind == Drain && f.names(machine) })
	return f.After.Duration, hit
}

// WithoutAddress reports whether a machine gets no address after its power-on, and for
// how long; 0 means for ever.
func (c *Injector) WithoutAddress(machine string) (time.Duration, bool) {
	f, hit := c.find(func(f Fault) bool { return f.Kind == NoAddress && f.names(machine) })
	return f.For.Duration, hit
}

// WithoutCapacity reports whether no host has room for the machine now, and for how
// long; 0 means for ever.
func (c *Injector) WithoutCapacity(machine string) (time.Duration, bool) {
	return c.lasting(func(f Fault) bool { return f.Kind == NoCapacity && f.names(machine) })
}

// APIServerDown reports whether the API server of a control plane is down, and for how
// long.
func (c *Injector) APIServerDown(machine string) (time.Duration, bool) {
	return c.lasting(func(f Fault) bool { return f.Kind == APIServerDies && f.names(machine) })
}

// AddonFails reports whether a fault of this kind happens to the addon now, and for how
// long; 0 means for ever.
func (c *Injector) AddonFails(k Kind, addon string) (time.Duration, bool) {
	return c.lasting(func(f Fault) bool { return f.ails(k, addon) })
}

// ArtifactUnavailable reports whether a request for an artifact of the addon fails.
func (c *Injector) ArtifactUnavailable(addon string) bool {
	_, hit := c.take(func(f Fault) bool { return f.ails(ChartUnavailable, addon) && c.isOn(f) })
	return hit
}

// On reports whether now is the time of a fault of this kind. It does not count.
func (c *Injector) On(k Kind) bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.plan.Faults, func(f Fault) bool { return f.Kind == k && c.isOn(f) })
}

// Plan returns the present plan.
func (c *Injector) Plan() Plan {
	if c == nil {
		return Plan{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.plan
}

// ConflictingMachines returns the faults that take the name of a machine.
func (c *Injector) ConflictingMachines() (all []Fault) {
	for _, f := range c.Plan().Faults {
		if f.Kind == ConflictingMachine {
			all = append(all, f)
		}
	}
	return all
}

// ConflictingHosts returns the addresses that conflicting hosts have now, sorted.
func (c *Injector) ConflictingHosts() (all []netip.Addr) {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, f := range c.plan.Faults {
		if f.Kind == ConflictingHost && c.isOn(f) {
			c.used[i]++
			all = append(all, netip.MustParseAddr(f.Address)) // was checked
		}
	}
	slices.SortFunc(all, netip.Addr.Compare)
	return slices.Compact(all)
}

// WithoutGateway reports whether no router answers now.
func (c *Injector) WithoutGateway() bool {
	_, on := c.lasting(func(f Fault) bool { return f.Kind == NoGateway })
	return on
}

// isOn reports whether now is the fault's time. The caller holds the lock.
func (c *Injector) isOn(f Fault) bool {
	passed := c.elapsed() - f.After.Duration
	return passed >= 0 && (f.For.Duration == 0 || passed < f.For.Duration)
}

func (c *Injector) elapsed() time.Duration {
	if c.began.IsZero() {
		return 0
	}
	return time.Since(c.began)
}

// take finds the first fault that is not used up.
func (c *Injector) take(applies func(Fault) bool) (Fault, bool) {
	return c.look(func(i int, f Fault) bool {
		return (f.limit() == 0 || c.used[i] < f.limit()) && applies(f)
	})
}

// lasting finds a fault whose time is now, and how long it continues; 0 means for
// ever.
func (c *Injector) lasting(applies func(Fault) bool) (left time.Duration, on bool) {
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
func (c *Injector) find(applies func(Fault) bool) (Fault, bool) {
	return c.look(func(_ int, f Fault) bool { return applies(f) })
}

// look finds the first fault that applies, and counts it.
func (c *Injector) look(hits func(int, Fault) bool) (Fault, bool) {
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
