// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/launch"
	"github.com/butlerdotdev/butler/internal/trace"
	"github.com/butlerdotdev/butler/internal/ui"
)

// traced runs a bootstrap, and writes it as a trace if the environment names a collector. One
// that does not answer is a warning.
func (a App) traced(ctx context.Context, f bootstrapFlags, l *launch.Launch, run func() error) error {
	t, err := trace.Start(ctx, trace.Subject{
		Cluster: l.Manifest.Cluster.Spec.Cluster.Name, Provider: string(l.Manifest.Provider.Spec.Provider), Rehearsal: f.rehearse,
	})
	if err != nil {
		return failure.New(failure.Usage, err)
	}
	if t != nil {
		l.Progress.Observe(t.See)
	}
	err = run()
	if lost := t.End(err); lost != nil {
		l.Progress.Report(ui.Event{Type: ui.EventWarning, Message: lost.Error()})
	}
	return err
}
