// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/pivot"
	"github.com/butlerdotdev/butler/internal/ui"
)

// teller writes what happens, as it happens: as lines, as JSON, or as a view
// that changes in place.
type teller struct {
	app   App
	json  bool
	begin time.Time
	mu    sync.Mutex
	state ui.State
	live  *live
	// pending is a line on the terminal that the next one replaces.
	pending bool
	// moved is how the plane has moved, if that is to be told at the end.
	moved *pivot.Report
}

func newTeller(a App, output string) *teller {
	return &teller{app: a, json: output == "json", begin: time.Now()}
}

func (t *teller) tell(e ui.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.replace()
	e.Time = time.Now()
	e.Elapsed = e.Time.Sub(t.begin).Seconds()
	if t.json {
		fmt.Fprintln(t.app.Out, ui.JSON(e))
	} else {
		fmt.Fprintln(t.app.Err, ui.Plain(e))
	}
}

// starting shows on a terminal what is being done, until something is told.
func (t *teller) starting(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if out, ok := terminal(t.app.Err); ok && !t.json {
		t.replace()
		// A line that wraps cannot be replaced.
		fmt.Fprint(out, ui.Clip("          … "+what, screenOf(out).Width-1))
		t.pending = true
	}
}

// replace removes what starting has shown.
func (t *teller) replace() {
	if t.pending {
		fmt.Fprint(t.app.Err, "\r\x1b[K")
		t.pending = false
	}
}

func (t *teller) step(message string) { t.tell(ui.Event{Type: ui.EventStep, Message: message}) }

// waiting tells an obstacle, once.
func (t *teller) waiting(message string) {
	next := t.state
	next.Obstacle = message
	t.advance(next)
}

// watch begins to show a bootstrap, in place if there is a terminal to do so.
func (t *teller) watch(title string, warnings []string) {
	out, ok := terminal(t.app.Err)
	if !ok || t.json {
		for _, w := range warnings {
			t.tell(ui.Event{Type: ui.EventWarning, Message: w})
		}
		return
	}
	fmt.Fprintln(out)
	v := ui.View{Title: title, Begin: t.begin}
	for _, w := range warnings {
		v = v.Warned(w)
	}
	t.live = newLive(out, v)
}

// unwatch ends what watch began.
func (t *teller) unwatch(o ui.Outcome) {
	if t.live != nil {
		t.live.end(o)
		t.live = nil
		if o == ui.Ready {
			fmt.Fprintln(t.app.Err)
		}
	}
}

func (t *teller) show(cb *v1alpha1.ClusterBootstrap) { t.advance(ui.StateOf(cb)) }

// moving tells how far a move of the plane is.
func (t *teller) moving(s pivot.Stage, message string) {
	t.waiting(string(s) + ": " + message)
}

// report tells that both planes were the same when one took over. A view has no
// room for it: it comes below.
func (t *teller) report(r *pivot.Report) {
	if t.live == nil {
		t.step("the cluster manages itself: " + r.String())
		return
	}
	t.moved = r
}

func (t *teller) advance(next ui.State) {
	if t.live != nil {
		t.live.change(func(v ui.View) ui.View { return v.Next(next, time.Now()) })
	} else {
		for _, e := range ui.Changes(t.state, next) {
			t.tell(e)
		}
	}
	t.state = next
}

// showDeletion tells what keeps a cluster that is being deleted.
func (t *teller) showDeletion(cb *v1alpha1.ClusterBootstrap) {
	c := meta.FindStatusCondition(cb.Status.Conditions, v1alpha1.ConditionProgressing)
	if c != nil && c.Reason == "Deleting" {
		t.waiting(c.Message)
	}
}

// lastly adds to an error what stood in the way when it came.
func (t *teller) lastly(err error) error {
	if t.state.Obstacle == "" {
		return err
	}
	return fmt.Errorf("%w; last seen: %s", err, t.state.Obstacle)
}

// fail tells programs how the command ended; people read it from Main.
func (t *teller) fail(err error) {
	t.replace()
	if err == nil || !t.json {
		return
	}
	if invalid, ok := errors.AsType[*manifest.Invalid](err); ok {
		for _, p := range invalid.Problems {
			t.tell(ui.Event{
				Type: ui.EventProblem, Problem: &ui.Problem{File: invalid.File, Line: p.Line, Field: p.Field},
				Message: p.Message,
			})
		}
	}
	t.tell(ui.Event{Type: ui.EventFailed, Phase: t.state.Phase, Code: codeOf(err), Message: summary(err)})
}

// finish says what can be done with a cluster that is Ready.
func (t *teller) finish(w workspace, changed bool) {
	message := w.name + " is Ready"
	if !changed {
		message += " already; nothing was changed"
	}
	if t.moved != nil {
		t.report(t.moved)
	}
	t.tell(ui.Event{Type: ui.EventReady, Phase: t.state.Phase, Message: message})
	if t.json {
		return
	}
	fmt.Fprintf(t.app.Err, "\n  use it:     %s > kubeconfig\n  look at it: %s\n  remove it:  %s\n",
		w.command("kubeconfig"), w.command("status"), w.command("destroy"))
}

// hint says what can be done with a cluster that is not Ready.
func (t *teller) hint(w workspace, again string) {
	t.replace()
	if t.json {
		return
	}
	fmt.Fprintf(t.app.Err, "\nEverything is left in place.\n\n  go on:      %s\n  look at it: %s\n  remove it:  %s\n\n",
		again, w.command("status"), w.command("destroy"))
}
