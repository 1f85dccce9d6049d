// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"

	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/internal/workspace"
)

// reportFailure reports an error as a JSON event. Main prints it for people.
func reportFailure(progress *ui.Reporter, err error) {
	progress.Clear()
	if err == nil || !progress.JSON() {
		return
	}
	if invalid, ok := errors.AsType[*manifest.Invalid](err); ok {
		for _, p := range invalid.Problems {
			progress.Report(ui.Event{
				Type: ui.EventProblem, Problem: &ui.Problem{File: invalid.File, Line: p.Line, Field: p.Field},
				Message: p.Message,
			})
		}
	}
	progress.Failed(codeOf(err), summary(err))
}

// finish reports that a cluster is Ready, and prints the next commands.
func (a App) finish(progress *ui.Reporter, w workspace.Workspace, changed bool) {
	message := w.Name + " is Ready"
	if !changed {
		message += " already; nothing was changed"
	}
	progress.Ready(message)
	if progress.JSON() {
		return
	}
	fmt.Fprintf(a.Err, "\n  use it:     %s > kubeconfig\n  look at it: %s\n  remove it:  %s\n",
		w.Command("kubeconfig"), w.Command("status"), w.Command("destroy"))
}

// suggest prints the next commands for a cluster that is not Ready.
func (a App) suggest(progress *ui.Reporter, w workspace.Workspace, again string) {
	progress.Clear()
	if progress.JSON() {
		return
	}
	fmt.Fprintf(a.Err, "\nEverything is left in place.\n\n  continue:   %s\n  explain it: %s\n  look at it: %s\n  remove it:  %s\n\n",
		again, w.Command("why"), w.Command("status"), w.Command("destroy"))
}
