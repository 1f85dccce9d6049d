// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package crashtest

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// disturbance is what makes a life different from an ordinary one.
type disturbance struct {
	crashes          []int // at which points the reconciler dies
	deleteAfterCrash bool

	// Before pass number from, and for as many passes, the view of the request
	// is that many versions old; where restart is set, memory is lost first.
	from, passesStale, back int
	restart                 bool
	atLeast                 time.Duration // between passes, so that windows pass
	hideConfig              bool

	// Before pass number when, something happens that is not reported.
	when   int
	unseen string
}

// What may happen unseen.
const (
	unseenDelete  = "the request is deleted"
	unseenReplace = "the request is deleted and created again"
	unseenVanish  = "the thing vanishes"
	unseenCopy    = "the request is copied"
)

// String says how to repeat the same run.
func (d disturbance) String() string {
	switch {
	case d.unseen != "":
		return fmt.Sprintf("before pass %d %s", d.when, d.unseen)
	case d.from > 0:
		return fmt.Sprintf("from pass %d on, %d versions back for %d passes, memory lost: %t, config hidden: %t, passes at least %v apart",
			d.from, d.back, d.passesStale, d.restart, d.hideConfig, d.atLeast)
	default:
		return fmt.Sprintf("death at %v, deleted then: %t", d.crashes, d.deleteAfterCrash)
	}
}

// stale reports whether the next pass, or the present one, reads old versions.
func (f *life) stale(pass int) bool {
	return f.from > 0 && pass >= f.from && pass < f.from+f.passesStale
}

// behind reports whether an old version is still to be served.
func (f *life) behind() bool { return f.stale(f.passes + 1) }

func (f *life) view(last int) int {
	if !f.stale(f.passes) {
		return last
	}
	return max(last-f.back, 0)
}

func (f *life) disturb() error {
	next := f.passes + 1
	f.configHidden = f.hideConfig && f.stale(next)
	if next == f.from && f.restart {
		f.points.note("restarted")
		f.start()
	}
	if next != f.when {
		return nil
	}
	f.points.note(f.unseen)
	switch f.unseen {
	case unseenVanish:
		f.backend.vanish()
		return nil
	case unseenCopy:
		return f.copy()
	}
	if f.deleted {
		return nil
	}
	if err := f.delete(); err != nil {
		return err
	}
	if f.unseen == unseenReplace && f.current() == nil {
		f.deleted = false
		return f.create()
	}
	return nil
}

// Crashes lets the reconciler die once in each life, at every point in turn. In a
// second round the request is deleted while the reconciler is dead.
func (l *Lab) Crashes() {
	for _, deleted := range []bool{false, true} {
		for n := 1; ; n++ {
			if f := l.live(disturbance{crashes: []int{n}, deleteAfterCrash: deleted}); f.points.passed < n {
				break
			}
		}
	}
}

// CrashPairs lets the reconciler die twice, in as many lives, at random points.
func (l *Lab) CrashPairs(lives int, seed uint64) {
	random := rand.New(rand.NewPCG(seed, seed))
	most := l.live(disturbance{}).points.passed
	for range lives {
		first := 1 + random.IntN(most)
		second := first + 1 + random.IntN(most)
		l.live(disturbance{crashes: []int{first, second}, deleteAfterCrash: random.IntN(2) == 0})
	}
}

// StaleReads serves old versions of the request from every pass on, and then a
// missing ProviderConfig; with a memory and without, and so slowly that every
// window passes meanwhile. A request that is gone is served in all its versions.
func (l *Lab) StaleReads(most int) {
	slowly := l.Settle + time.Second
	whole := l.live(disturbance{atLeast: slowly})
	for back := 1; back < len(whole.history); back++ {
		l.live(disturbance{from: whole.passes + 1, passesStale: 3, back: back, restart: true, atLeast: slowly})
	}
	for from, passes := 1, 1; from <= passes+1; from++ {
		for back := 1; back <= most; back++ {
			for _, restart := range []bool{false, true} {
				f := l.live(disturbance{from: from, passesStale: 3, back: back, restart: restart, atLeast: slowly})
				passes = max(passes, f.passes-3)
			}
		}
		l.live(disturbance{from: from, passesStale: 2, restart: true, hideConfig: true})
	}
}

// Copies lets a copy of the request come before every pass, and go again.
func (l *Lab) Copies() {
	for when := 2; ; when++ {
		if f := l.live(disturbance{when: when, unseen: unseenCopy}); f.passes < when {
			break
		}
	}
}

// Unseen lets things happen before every pass that the reconciler hears nothing of.
func (l *Lab) Unseen() {
	for _, what := range []string{unseenDelete, unseenReplace, unseenVanish} {
		for when := 1; ; when++ {
			if f := l.live(disturbance{when: when, unseen: what}); f.passes < when {
				break
			}
		}
	}
}
