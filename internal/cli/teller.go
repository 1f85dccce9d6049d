// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ui"
)

// teller writes what happens, as it happens.
type teller struct {
	app   App
	json  bool
	begin time.Time
	mu    sync.Mutex
	state ui.State
}

func newTeller(a App, output string) *teller {
	return &teller{app: a, json: output == "json", begin: time.Now()}
}

func (t *teller) tell(e ui.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.Time = time.Now()
	e.Elapsed = e.Time.Sub(t.begin).Seconds()
	if t.json {
		fmt.Fprintln(t.app.Out, ui.JSON(e))
	} else {
		fmt.Fprintln(t.app.Err, ui.Plain(e))
	}
}

func (t *teller) step(message string) { t.tell(ui.Event{Type: "step", Message: message}) }

func (t *teller) show(cb *v1alpha1.ClusterBootstrap) {
	next := ui.StateOf(cb)
	for _, e := range ui.Changes(t.state, next) {
		t.tell(e)
	}
	t.state = next
}

// showDeletion tells what keeps a cluster that is being deleted.
func (t *teller) showDeletion(cb *v1alpha1.ClusterBootstrap) {
	c := meta.FindStatusCondition(cb.Status.Conditions, v1alpha1.ConditionProgressing)
	if c == nil || c.Reason != "Deleting" || c.Message == t.state.Obstacle {
		return
	}
	t.state.Obstacle = c.Message
	t.tell(ui.Event{Type: "waiting", Message: c.Message})
}

// lastly adds to an error what stood in the way when it came.
func (t *teller) lastly(err error) error {
	if t.state.Obstacle == "" {
		return err
	}
	return fmt.Errorf("%w; last seen: %s", err, t.state.Obstacle)
}

// finish says what can be done with a cluster that is Ready.
func (t *teller) finish(w workspace) {
	t.tell(ui.Event{Type: "ready", Phase: t.state.Phase, Message: w.name + " is Ready"})
	if t.json {
		return
	}
	fmt.Fprintf(t.app.Err, "\nAddons are not installed by this version.\n\n  use it:     %s > kubeconfig\n  look at it: %s\n  remove it:  %s\n",
		w.command("kubeconfig"), w.command("status"), w.command("destroy"))
}

// hint says what can be done with a cluster that is not Ready.
func (t *teller) hint(w workspace) {
	if t.json {
		return
	}
	fmt.Fprintf(t.app.Err, "\nEverything is left in place.\n\n  go on:      the same command again\n  look at it: %s\n  remove it:  %s\n\n",
		w.command("status"), w.command("destroy"))
}
