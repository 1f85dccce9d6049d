// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Reporter writes events as they happen: as lines, as JSON, or as a view that
// changes in place.
type Reporter struct {
	out, err io.Writer
	json     bool
	begin    time.Time
	mu       sync.Mutex
	state    State
	live     *live
	// pending is a line on the terminal that the next one replaces.
	pending string
	// moved is the report of a move of the plane, kept until the view has ended.
	moved fmt.Stringer
	// observer gets each event, also those that a view shows in place; nil gets none.
	observer func(Event)
}

// Observe sets the observer of all events.
func (r *Reporter) Observe(see func(Event)) { r.observer = see }

func (r *Reporter) observe(e Event) {
	if r.observer != nil {
		e.Time = time.Now()
		r.observer(e)
	}
}

// NewReporter returns a reporter that writes lines and views for people to err, or,
// if output is "json", events for programs to out.
func NewReporter(out, err io.Writer, output string) *Reporter {
	return &Reporter{out: out, err: err, json: output == "json", begin: time.Now()}
}

// JSON reports whether the events are written for programs.
func (r *Reporter) JSON() bool { return r.json }

// Report writes an event.
func (r *Reporter) Report(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replace()
	r.observe(e)
	e.Time = time.Now()
	e.Elapsed = e.Time.Sub(r.begin).Seconds()
	if r.json {
		fmt.Fprintln(r.out, JSON(e))
	} else {
		fmt.Fprintln(r.err, Plain(e))
	}
}

// Starting shows on a terminal what is being done, until the next event.
func (r *Reporter) Starting(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if out, ok := terminal(r.err); ok && !r.json {
		r.replace()
		r.pending = Clip("          … "+what, screenOf(out).Width-1)
		fmt.Fprint(out, r.pending)
	}
}

// Clear removes what Starting has shown.
func (r *Reporter) Clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replace()
}

func (r *Reporter) replace() {
	if out, ok := terminal(r.err); ok && r.pending != "" {
		fmt.Fprint(out, back(r.pending, screenOf(out).Width)+over(""))
		r.pending = ""
	}
}

// Step reports something that was done.
func (r *Reporter) Step(message string) { r.Report(Event{Type: EventStep, Message: message}) }

// Waiting reports an obstacle, once.
func (r *Reporter) Waiting(message string) {
	next := r.state
	next.Obstacle = message
	r.advance(next)
}

// Watch begins to show a bootstrap, in place if there is a terminal to do so.
func (r *Reporter) Watch(title string, warnings []string) {
	out, ok := terminal(r.err)
	if !ok || r.json {
		for _, w := range warnings {
			r.Report(Event{Type: EventWarning, Message: w})
		}
		return
	}
	fmt.Fprintln(out)
	v := View{Title: title, Begin: r.begin}
	for _, w := range warnings {
		v = v.Warned(w)
	}
	r.live = newLive(out, v)
}

// Unwatch ends what Watch began.
func (r *Reporter) Unwatch(o Outcome) {
	if r.live != nil {
		r.live.end(o)
		r.live = nil
		if o == Ready {
			fmt.Fprintln(r.err)
		}
	}
}

// Show reports what has changed in a ClusterBootstrap since the last call.
func (r *Reporter) Show(cb *v1alpha1.ClusterBootstrap) { r.advance(StateOf(cb)) }

// Moved reports that both planes were equal when one took over. A view has no room
// for it, so there it follows in Ready.
func (r *Reporter) Moved(report fmt.Stringer) {
	if r.live == nil {
		r.Step("the cluster manages itself: " + report.String())
		return
	}
	r.moved = report
}

func (r *Reporter) advance(next State) {
	for _, e := range Changes(r.state, next) {
		if r.live != nil {
			r.observe(e)
		} else {
			r.Report(e)
		}
	}
	if r.live != nil {
		r.live.change(func(v View) View { return v.Next(next, time.Now()) })
	}
	r.state = next
}

// WithObstacle adds to an error what blocked the command when it came, unless the error is that.
func (r *Reporter) WithObstacle(err error) error {
	if r.state.Obstacle == "" || strings.Contains(err.Error(), r.state.Obstacle) {
		return err
	}
	return fmt.Errorf("%w; last seen: %s", err, r.state.Obstacle)
}

// Ready reports that a command has reached its goal.
func (r *Reporter) Ready(message string) {
	if r.moved != nil {
		r.Moved(r.moved)
	}
	r.Report(Event{Type: EventReady, Phase: r.state.Phase, Message: message})
}

// Failed reports to programs how a command ended.
func (r *Reporter) Failed(code int, message string) {
	r.Report(Event{Type: EventFailed, Phase: r.state.Phase, Code: code, Message: message})
}
