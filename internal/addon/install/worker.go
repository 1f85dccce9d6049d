// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
)

const (
	firstBackOff = time.Second
	lastBackOff  = time.Minute
	// Probes read what no watch reports, as long as an addon is not ready.
	firstProbe = 250 * time.Millisecond
	lastProbe  = 5 * time.Second
)

// stage is the progress of an attempt. The cause of a failure stays visible
// until a later attempt has come further.
type stage int

const (
	preparing stage = iota + 1
	fetching
	applying
	following
)

// worker brings one addon to where it is wanted, and keeps watching it there.
type worker struct {
	cluster *cluster
	key     string
	log     *slog.Logger
	wake    chan struct{} // something may have changed
	cancel  context.CancelFunc
	ended   chan struct{}

	// Only the worker itself has these.
	failures int
	failedAt stage
	again    bool // what the record says is not true any more

	// The lock of the cluster guards these.
	wanted     addon.Addon
	generation int // of what is wanted
	taken      int // of what is worked on
	state      State
	interest   map[string]bool
	yields     bool // it lets others go first
}

// task is an addon as it was wanted when work on it began.
type task struct {
	addon.Addon
	Target
	*connection
	generation int
}

// want is called with the lock held.
func (w *worker) want(a addon.Addon) {
	if reflect.DeepEqual(w.wanted, a) {
		return
	}
	w.wanted = a
	w.state.Version = a.Version
	w.change()
}

// change is called with the lock held. An addon that was ready is not ready as
// it is wanted now.
func (w *worker) change() {
	w.generation++
	if w.state.Phase == v1alpha1.AddonReady {
		w.state.Phase, w.state.Message = v1alpha1.AddonPending, "has been changed"
	}
	w.nudge()
}

func (w *worker) nudge() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// take is the addon as it is wanted now.
func (w *worker) take() (task, error) {
	connection, target, err := w.cluster.current()
	w.cluster.mu.Lock()
	defer w.cluster.mu.Unlock()
	w.taken = w.generation
	return task{Addon: w.wanted, Target: target, connection: connection, generation: w.generation}, err
}

// outdated reports whether the addon has been changed.
func (w *worker) outdated(t task) bool {
	w.cluster.mu.Lock()
	defer w.cluster.mu.Unlock()
	return w.generation != t.generation
}

// gone is an object of an addon that was deleted.
type gone struct{ object string }

func (g gone) Error() string { return g.object + " is not there any more, and is applied again" }

func (w *worker) run(ctx context.Context) {
	for ctx.Err() == nil {
		t, err := w.take()
		if err == nil {
			err = w.pass(ctx, t)
		}
		switch {
		case ctx.Err() != nil:
			return
		case w.outdated(t):
			w.failures, w.failedAt = 0, 0
		case t.connection != nil && t.ctx.Err() != nil:
			// It was interrupted for another connection, and continues with that.
		case err != nil:
			w.fail(err)
			w.pause(ctx, t, backOff(w.failures))
		}
	}
}

// backOff is the pause after so many failures in a row.
func backOff(failures int) time.Duration {
	pause := firstBackOff
	for i := 1; i < failures && pause < lastBackOff; i++ {
		pause *= 2
	}
	return min(pause, lastBackOff)
}

func (w *worker) fail(err error) {
	w.failures++
	if errors.As(err, new(gone)) {
		w.again = true
		w.set(v1alpha1.AddonWaiting, err.Error())
		return
	}
	w.setFailing(failureReason(w.failedAt, err), tidy(err.Error()))
}

// pause returns earlier when the addon is wanted differently.
func (w *worker) pause(ctx context.Context, t task, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for !w.outdated(t) {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		case <-w.wake:
		}
	}
}

// pass installs the addon, unless the cluster has it as it is wanted, and then
// watches it. It returns when the addon is wanted differently, when it has to be
// tried again, or when an object of it is gone.
func (w *worker) pass(ctx context.Context, t task) error {
	r, mark, err := w.compare(ctx, t)
	if err != nil {
		return err
	}
	if r.Mark != mark || w.again {
		content, err := w.bring(ctx, t)
		if err == nil {
			err = w.at(fetching, r.checkUnchanged(t.Addon, content))
		}
		if err != nil {
			return err
		}
		if !w.awaitNeeds(ctx, t) || !w.awaitTurn(ctx, t) {
			return nil
		}
		if r, err = w.install(ctx, t, content, mark); err != nil {
			return err
		}
		w.again = false
	}
	w.note(r)
	return w.keep(ctx, t, r)
}

// awaitNeeds returns when all that the addon needs is ready; or false, when the
// addon is wanted differently by then.
func (w *worker) awaitNeeds(ctx context.Context, t task) bool {
	for {
		if !w.waits(t) {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-w.wake:
		}
		if w.outdated(t) {
			return false
		}
	}
}

// waits reports whether this addon still waits for others, and names them.
func (w *worker) waits(t task) bool {
	missing := w.cluster.unready(t.Needs)
	if len(missing) > 0 {
		w.set(v1alpha1.AddonPending, "waits for "+strings.Join(missing, ", "))
	}
	return len(missing) > 0
}

// keep looks at an addon that was applied, whenever something may have changed,
// and lets follow what has to wait for its source's objects.
func (w *worker) keep(ctx context.Context, t task, r record) error {
	probe := newProbe()
	for ctx.Err() == nil && !w.outdated(t) {
		if c, _, err := w.cluster.current(); err == nil {
			t.connection = c
		}
		v, err := w.look(ctx, t, r)
		switch {
		case err != nil:
			w.unseen(ctx, err)
			probe.after(err.Error())
		case v.gone != "":
			return gone{v.gone}
		case len(v.obstacles) > 0:
			w.set(v1alpha1.AddonWaiting, v.String())
			probe.after(v.String())
		case r.Objects != objectsMark(t.Addon):
			if err := w.follow(ctx, t, &r); err != nil {
				return err
			}
			continue
		default:
			w.failures, w.failedAt = 0, 0
			w.set(v1alpha1.AddonReady, "")
			probe.rest()
			if w.cluster.rests() {
				t.rest()
			}
		}
		probe.await(ctx, w.wake)
	}
	return nil
}

// unseen is about an addon that could not be looked at: one that was ready is
// taken to be so still.
func (w *worker) unseen(ctx context.Context, err error) {
	if ctx.Err() == nil && w.phase() != v1alpha1.AddonReady {
		w.set(v1alpha1.AddonWaiting, tidy(fmt.Sprintf("cannot be looked at: %v", err)))
	}
}

func (w *worker) phase() v1alpha1.AddonPhase {
	w.cluster.mu.Lock()
	defer w.cluster.mu.Unlock()
	return w.state.Phase
}

// reach reports that an attempt has reached a stage.
func (w *worker) reach(s stage, message string) {
	if w.failedAt < s {
		w.set(v1alpha1.AddonInstalling, message)
	}
}

// at marks the error of a stage.
func (w *worker) at(s stage, err error) error {
	if err != nil {
		w.failedAt = s
	}
	return err
}

// note uses the record of an addon.
func (w *worker) note(r record) {
	w.cluster.mu.Lock()
	defer w.cluster.mu.Unlock()
	w.state.Digest = r.Digest
}

// set reports the state of the addon, if it has changed.
func (w *worker) set(phase v1alpha1.AddonPhase, message string) {
	w.report(phase, "", message)
}

// setFailing reports why the addon could not be installed.
func (w *worker) setFailing(reason, message string) {
	w.report(v1alpha1.AddonFailing, reason, message)
}

func (w *worker) report(phase v1alpha1.AddonPhase, reason, message string) {
	if w.update(phase, reason, message) {
		w.cluster.installer.wake(w.cluster.id)
	}
}

func (w *worker) update(phase v1alpha1.AddonPhase, reason, message string) bool {
	w.cluster.mu.Lock()
	defer w.cluster.mu.Unlock()
	before := w.state
	if before.Phase == phase && before.Message == message || w.taken != w.generation {
		return false // no news, or none about what is wanted by now
	}
	w.state.Phase, w.state.Reason, w.state.Message = phase, reason, message
	if before.Phase != phase || phase == v1alpha1.AddonFailing {
		w.log.Info("addon is "+strings.ToLower(string(phase)), "version", w.wanted.Version, "message", message)
	}
	if before.Phase == v1alpha1.AddonReady || phase == v1alpha1.AddonReady {
		w.cluster.notify(w.key)
	}
	if before.Phase != phase {
		w.cluster.nextTurn()
	}
	return true
}
