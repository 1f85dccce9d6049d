// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"

	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/launch"
	"github.com/butlerdotdev/butler/internal/lock"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/plan"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/internal/workspace"
	"github.com/butlerdotdev/butler/provider"
)

// bootstrap creates a cluster, and reports a failure to programs.
func (a App) bootstrap(ctx context.Context, p provider.Provider, f bootstrapFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	progress := ui.NewReporter(a.Out, a.Err, f.output)
	err := a.runBootstrap(ctx, p, f, progress)
	reportFailure(progress, err)
	return err
}

func (a App) runBootstrap(ctx context.Context, p provider.Provider, f bootstrapFlags, progress *ui.Reporter) error {
	l, err := a.loadLaunch(ctx, p, f, progress)
	if err != nil {
		return err
	}
	return a.traced(ctx, f, l, func() error { return a.runLaunch(ctx, f, l) })
}

// runLaunch runs a bootstrap in its workspace.
func (a App) runLaunch(ctx context.Context, f bootstrapFlags, l *launch.Launch) error {
	progress := l.Progress
	choice, err := f.choosePlane(ctx, a, l.Manifest)
	if err != nil {
		return err
	}
	mine, err := workspace.Create(l.Manifest.Cluster.Spec.Cluster.Name, f.stateDir, f.rehearse, choice)
	if err == nil && mine.NewPlane {
		err = mine.Link()
	}
	if err != nil {
		return errors.Join(err, mine.Discard(ctx, a.Hooks.Engine))
	}
	l.Workspace, l.NewPlane = mine.Workspace, mine.NewPlane
	l.Ready = func(changed bool) { a.finish(progress, l.Workspace, changed) }
	timed, cancel := context.WithTimeoutCause(ctx, f.timeout, errTimeout)
	defer cancel()
	err = interrupted(timed, l.Run(timed))
	switch {
	case err == nil || errors.Is(err, lock.ErrHeld) || errors.Is(err, operation.ErrDeleted):
	case isRefusal(err) && l.NewPlane:
		err = errors.Join(err, mine.Discard(ctx, a.Hooks.Engine))
	case !isRefusal(err):
		a.suggest(progress, l.Workspace, f.again)
	}
	return err
}

// loadLaunch reads and checks the input of a bootstrap. It changes nothing.
func (a App) loadLaunch(ctx context.Context, p provider.Provider, f bootstrapFlags, progress *ui.Reporter) (*launch.Launch, error) {
	m, err := f.load(a.fits(p))
	if err != nil {
		return nil, err
	}
	if err := f.checkTerminal(); err != nil {
		return nil, err
	}
	l, err := a.newLaunch(ctx, p, m, f, progress)
	if err != nil || f.plan == "" {
		return l, err
	}
	saved, err := plan.Load(f.plan)
	if err != nil {
		return nil, failure.New(failure.Usage, err)
	}
	l.Saved = &saved
	return l, nil
}

// newLaunch checks what goes with a manifest. It changes nothing.
func (a App) newLaunch(ctx context.Context, p provider.Provider, m *manifest.Manifest, f bootstrapFlags, progress *ui.Reporter) (*launch.Launch, error) {
	if err := operation.CheckChartDir(ctx, f.charts, m); err != nil {
		return nil, err
	}
	given, err := f.given(p.Login, m, a.Err)
	if err != nil {
		return nil, err
	}
	setup, err := f.setup(a, m)
	if err != nil {
		return nil, err
	}
	return &launch.Launch{
		Provider: p, Manifest: m, Setup: setup, Secret: given, Charts: f.charts, Images: f.images, AcceptExpiring: f.acceptExpiring,
		Progress: progress, Hooks: a.Hooks, Teardown: a.newTeardown(destroyFlags{}),
		Confirm: func(ctx context.Context, question string) bool { return f.yes || a.confirm(ctx, question) },
	}, nil
}

// isRefusal reports whether an error means that nothing was created.
func isRefusal(err error) bool {
	kind := failure.KindOf(err)
	return kind == failure.Usage || kind == failure.Refused
}

// setup returns the initial state of the simulated platform of a rehearsal.
func (f bootstrapFlags) setup(a App, m *manifest.Manifest) (sim.Setup, error) {
	if !f.rehearse {
		return sim.Setup{}, nil
	}
	platform, err := a.simulator(m.Provider.Spec.Provider)
	if err != nil {
		return sim.Setup{}, err
	}
	seed, err := sim.SeedFor(platform, m.Cluster, m.Provider, m.Pools...)
	if err != nil {
		return sim.Setup{}, err
	}
	setup, err := f.simulator.setup(seed)
	if err != nil {
		return setup, err
	}
	addons, err := operation.AddonsOf(m)
	if err != nil {
		return setup, err
	}
	if setup.Seed.Artifacts, err = operation.ImageArtifacts(addons); err != nil {
		return setup, failure.New(failure.Usage, err)
	}
	if f.charts == "" {
		setup.Seed.Artifacts = append(setup.Seed.Artifacts, operation.Artifacts(addons)...)
	}
	return setup, nil
}
