// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package crashtest

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/butlerdotdev/butler/provider"
)

// Behaviour is how the platform of a life answers. The zero value shows at once
// what was made.
type Behaviour struct {
	// Lag is how long something that was made is not to be seen.
	Lag time.Duration
	// Settle is the window that the platform announces.
	Settle time.Duration
	// Late is how long after its death a caller's call takes effect; zero is a moment.
	Late time.Duration
	// Halves lets the first call that makes something make a part of it only.
	Halves bool
}

// How long things take, in artificial time.
const (
	bootTime = 1500 * time.Millisecond // until something is up
	goneTime = 1500 * time.Millisecond // until something is gone
	lateTime = 800 * time.Millisecond  // until the call of a dead caller takes effect, unless Late is set
	stepTime = time.Second             // between passes, at least
)

const foreign = "foreign"

const whileWanted = "a thing was deleted while its request was not"

// backend is a platform as unkind as the contract allows: names are not unique,
// nothing is idempotent by itself, what was made shows late, and a call whose
// caller has died may still take effect. Its driver looks for the owner before it
// makes anything, and can see no more than the platform shows.
type backend struct {
	Behaviour
	clock  *clock
	points *points
	things []*thing
	made   int
	wanted bool // the request is not being deleted
	due    []effect
}

// thing is a machine or a load balancer.
type thing struct {
	name    string
	owner   provider.Owner
	number  int
	made    time.Time
	deleted time.Time
	partial bool
	targets int32
}

// effect is a call that outlives its caller.
type effect struct {
	at time.Time
	do func()
}

type clock struct{ t time.Time }

func (c *clock) now() time.Time          { return c.t }
func (c *clock) advance(d time.Duration) { c.t = c.t.Add(d) }

// step brings the backend to the present time.
func (w *backend) step() {
	due := w.due
	w.due = nil
	for _, e := range due {
		if e.at.After(w.clock.now()) {
			w.due = append(w.due, e)
			continue
		}
		e.do()
	}
	w.things = slices.DeleteFunc(w.things, func(t *thing) bool {
		return !t.deleted.IsZero() && w.clock.now().Sub(t.deleted) >= goneTime
	})
}

// call lets the caller die before a change, after it, and so that the change
// comes later than the death.
func (w *backend) call(op string, owner provider.Owner, do func()) {
	w.step()
	if owner.ID == "" {
		w.points.violate("%s was called without an owner", op)
	}
	w.points.reach("before "+op, w.check)
	if w.points.at("late " + op) {
		w.due = append(w.due, effect{at: w.clock.now().Add(w.late()), do: do})
		panic(crash{})
	}
	do()
	w.points.reach("after "+op, w.check)
}

func (b Behaviour) late() time.Duration { return cmp.Or(b.Late, lateTime) }

// look lets the caller die around a question.
func (w *backend) look(op string, owner provider.Owner) *thing {
	w.step()
	w.points.reach("before "+op, w.check)
	defer w.points.reach("after "+op, w.check)
	return w.visible(owner)
}

// visible is what the platform shows of an owner.
func (w *backend) visible(owner provider.Owner) *thing {
	for _, t := range w.things {
		if t.owner.ID == owner.ID && w.clock.now().Sub(t.made) >= w.Lag {
			return t
		}
	}
	return nil
}

func (w *backend) ensure(name string, owner provider.Owner, targets int32) *thing {
	t := w.visible(owner)
	if t == nil {
		w.made++
		t = &thing{name: name, owner: owner, number: w.made, made: w.clock.now(), partial: w.Halves}
		w.things = append(w.things, t)
	} else if t.deleted.IsZero() {
		t.partial = false
	}
	t.targets = targets
	return t
}

func (w *backend) remove(owner provider.Owner) {
	if w.wanted {
		w.points.violate("%s", whileWanted)
	}
	if t := w.visible(owner); t != nil && t.deleted.IsZero() {
		t.deleted = w.clock.now()
	}
}

// vanish takes away everything but the other owner's, as an operator might.
func (w *backend) vanish() {
	w.things = slices.DeleteFunc(w.things, func(t *thing) bool { return t.owner.ID != foreign })
}

// own counts what exists, visible or not, besides the other owner's.
func (w *backend) own() int {
	n := 0
	for _, t := range w.things {
		if t.owner.ID != foreign {
			n++
		}
	}
	return n
}

// check says what must never be: two of ours, or a other owner's that was touched.
func (w *backend) check() string {
	if n := w.own(); n > 1 {
		return fmt.Sprintf("%d things exist", n)
	}
	for _, t := range w.things {
		if t.owner.ID == foreign && t.deleted.IsZero() && !t.partial && t.targets == 0 {
			return ""
		}
	}
	return "the other owner's thing was touched"
}

func (w *backend) state(t *thing) (provider.State, string) {
	switch {
	case t == nil:
		return provider.StateAbsent, ""
	case !t.deleted.IsZero():
		return provider.StateDeleting, t.id()
	case t.partial:
		return provider.StatePartial, ""
	case w.clock.now().Sub(t.made) < w.Lag+bootTime:
		return provider.StatePending, t.id()
	default:
		return provider.StateRunning, t.id()
	}
}

func (t *thing) id() string { return fmt.Sprintf("thing-%d", t.number) }

func (t *thing) address() netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(t.number)}) }
