// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/lock"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/selfhosted"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/teardown"
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
	m, err := f.load(a, p)
	if err != nil {
		return err
	}
	if err := f.checkTerminal(); err != nil {
		return err
	}
	if err := operation.CheckChartDir(ctx, f.charts, m); err != nil {
		return err
	}
	given, err := f.given(p.Login, m, a.Err)
	if err != nil {
		return err
	}
	setup, err := f.setup(a, m)
	if err != nil {
		return err
	}
	mine, err := workspace.Create(m.Cluster.Spec.Cluster.Name, f.stateDir, f.rehearse)
	w, fresh := mine.Workspace, mine.NewPlane
	if err == nil && fresh {
		err = w.Link()
	}
	if err != nil {
		return errors.Join(err, mine.Discard(ctx))
	}
	timed, cancel := context.WithTimeoutCause(ctx, f.timeout, errTimeout)
	defer cancel()
	err = interrupted(timed, a.bootstrapIn(timed, w, p, input{m, setup, given, f.charts, f.yes, fresh}, progress))
	switch {
	case err == nil || errors.Is(err, lock.ErrHeld) || errors.Is(err, operation.ErrDeleted):
	case isRefusal(err) && fresh:
		err = errors.Join(err, mine.Discard(ctx))
	case !isRefusal(err):
		a.suggest(progress, w, f.again)
	}
	return err
}

// isRefusal reports whether an error means that nothing was created.
func isRefusal(err error) bool {
	kind := failure.KindOf(err)
	return kind == failure.Usage || kind == failure.Refused
}

// input is the user's input to a bootstrap.
type input struct {
	*manifest.Manifest
	setup sim.Setup
	given *corev1.Secret
	// charts is the source of addons that the user has given.
	charts string
	yes    bool
	fresh  bool
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
	seed, err := sim.SeedFor(platform, m.Cluster, m.Provider)
	if err != nil {
		return sim.Setup{}, err
	}
	setup, err := f.simulator.setup(seed)
	if err != nil || f.charts != "" {
		return setup, err
	}
	addons, err := operation.AddonsOf(m)
	setup.Seed.Artifacts = operation.Artifacts(addons)
	return setup, err
}

func (a App) bootstrapIn(ctx context.Context, w workspace.Workspace, p provider.Provider, m input, progress *ui.Reporter) (err error) {
	progress.Starting("starting the local plane")
	simulated := simulateAhead(ctx, w, p, m)
	o, err := operation.Open(ctx, w, a.Hooks, "butleradm bootstrap "+w.Name)
	if err != nil {
		_ = simulated.Wait() // the error of the plane is the cause of both
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	o.Charts = m.charts
	progress.Step("local plane: " + o.KubeconfigPath())
	known, err := o.FindCluster(ctx, o.Local)
	if err == nil && known == nil {
		err = teardown.RefuseUnfinished(ctx, o)
	}
	if err == nil && !selfhosted.MovedAway(known) {
		err = o.CheckManifest(o.Context(), m.Manifest, known)
	}
	if e := simulated.Wait(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if err := w.Link(); err != nil {
		return err
	}
	if err := startSimulator(ctx, o, p, m, progress); err != nil {
		return err
	}
	if known, err = selfhosted.FenceStalePlane(o, known); err != nil {
		return err
	}
	if selfhosted.MovedAway(known) {
		progress.Step("this machine's plane is fenced: " + known.Annotations[v1alpha1.AnnotationFenced])
		if known, err = selfhosted.NewMover(o, p, progress).ResumeInCharge(known); err != nil {
			return err
		}
		if err := o.CheckManifest(o.Context(), m.Manifest, known); err != nil {
			return err
		}
		if err := o.CheckCharts(m.Manifest, known); err != nil {
			return err
		}
	}
	return a.bootstrapOn(o, p, m, known, progress)
}

// startSimulator starts the platform of a rehearsal.
func startSimulator(ctx context.Context, o *operation.Operation, p provider.Provider, m input, progress *ui.Reporter) (err error) {
	if !o.Rehearsal {
		return nil
	}
	progress.Starting(fmt.Sprintf("starting the simulated %s", p.Type))
	if o.Simulator, err = o.StartSimulator(ctx, p.Type, &m.setup); err != nil {
		return err
	}
	progress.Step(fmt.Sprintf("simulated %s: %s", p.Type, o.Simulator.Admin))
	if len(m.setup.Seed.Artifacts) > 0 {
		progress.Step("addons: stand-ins for the charts; --charts upstream uses the real ones")
	}
	return nil
}

// bootstrapOn creates the cluster once plane and platform are ready.
func (a App) bootstrapOn(o *operation.Operation, p provider.Provider, m input, known *v1alpha1.ClusterBootstrap, progress *ui.Reporter) error {
	plan, err := bootstrap.NewPlan(m.Cluster.Spec)
	if err != nil {
		return err
	}
	secret, err := chooseCredentials(o.Context(), o, p.Login, m.Manifest, m.given, progress)
	if err != nil {
		return err
	}
	if known == nil {
		if err := o.Preflight(p, m.Manifest, secret, plan, progress); err != nil {
			return err
		}
		if err := a.confirmMachines(o, m.Manifest, plan, m.yes); err != nil {
			return err
		}
	}
	generation, err := o.Apply(o.Context(), m.Manifest, secret)
	if err != nil {
		return err
	}
	a.Hooks.Reached("bootstrap/applied")
	here := o.InCharge() == operation.LocalPlane
	if here {
		if err := o.StartControllers(p); err != nil {
			return err
		}
	}
	warnings := m.warnings(plan)
	if here {
		warnings = append(warnings, operation.ChartWarnings(m.charts, m.Manifest)...)
	}
	progress.Watch(fmt.Sprintf("%s on %s (%s)", o.Name, m.Provider.Name, o.Kind()), warnings)
	err = carryThrough(o, p, m.Manifest, progress)
	progress.Unwatch(outcome(o.Context(), err))
	if errors.Is(err, operation.ErrDeleted) && o.InCharge() == operation.LocalPlane {
		return a.newTeardown(destroyFlags{}).CompleteDeletion(o, progress)
	}
	if err == nil {
		moved := here && o.InCharge() == operation.ClusterPlane
		a.finish(progress, o.Workspace, moved || !wasReady(known, generation))
	}
	return err
}

// warnings returns the warnings about a plan.
func (m input) warnings(plan bootstrap.Plan) (out []string) {
	for _, w := range plan.Warnings {
		out = append(out, w.Message)
	}
	out = append(out, bootstrap.ImageWarnings(m.Cluster.Spec, m.Provider.Spec)...)
	return append(out, operation.IdleFaults(m.setup)...)
}

// wasReady reports whether a cluster was Ready with its current spec.
func wasReady(known *v1alpha1.ClusterBootstrap, generation int64) bool {
	return known != nil && known.Generation == generation && known.Status.Phase == v1alpha1.BootstrapReady
}

// outcome returns the outcome of following a bootstrap.
func outcome(ctx context.Context, err error) ui.Outcome {
	switch {
	case err == nil:
		return ui.Ready
	case ctx.Err() != nil:
		return ui.Interrupted
	}
	return ui.Failed
}

// simulateAhead starts the platform of a new rehearsal in parallel with the plane. One
// that may run already is not touched until the plane is locked and the manifest
// checked.
func simulateAhead(ctx context.Context, w workspace.Workspace, p provider.Provider, m input) *errgroup.Group {
	var group errgroup.Group
	if m.fresh {
		group.Go(func() error {
			_, err := w.StartSimulator(ctx, p.Type, &m.setup)
			return err
		})
	}
	return &group
}

// carryThrough follows the bootstrap to its end. Once only the pivot is left, it
// pivots, and then follows the cluster's own controllers.
func carryThrough(o *operation.Operation, p provider.Provider, m *manifest.Manifest, progress *ui.Reporter) error {
	books := &teardown.Bookkeeper{Operation: o, Provider: p}
	for tries := 1; ; tries++ {
		cb, err := follow(o, m, books, progress)
		switch {
		case errors.Is(err, operation.ErrDeleted):
			return fmt.Errorf("%s was %w meanwhile; remove what is left of it: %s", o.Name, err, o.Command("destroy"))
		case err != nil:
			return progress.WithObstacle(err)
		case meta.IsStatusConditionTrue(cb.Status.Conditions, v1alpha1.ConditionFailed):
			return fmt.Errorf("bootstrap of %s failed: %s: %s", o.Name, cb.Status.FailureReason, cb.Status.FailureMessage)
		case !operation.ReadyToPivot(cb):
			return nil
		}
		if err := selfhosted.NewMover(o, p, progress).PivotOut(cb, tries); err != nil {
			return err
		}
	}
}

// follow reports the progress of the bootstrap until it is Ready, has failed, or only
// the pivot is left.
func follow(o *operation.Operation, m *manifest.Manifest, books *teardown.Bookkeeper, progress *ui.Reporter) (cb *v1alpha1.ClusterBootstrap, err error) {
	phase := v1alpha1.ClusterBootstrapPhase("")
	o.OnSilence = func(error) { progress.Waiting(o.Name + " manages itself, and does not answer") }
	err = o.Watch(client.ObjectKeyFromObject(m.Cluster), &v1alpha1.ClusterBootstrapList{}, func(object client.Object) bool {
		cb = object.(*v1alpha1.ClusterBootstrap)
		if phase != cb.Status.Phase {
			phase = cb.Status.Phase
			o.Hooks.Reached("bootstrap/" + string(phase))
		}
		books.See(cb)
		progress.Show(cb)
		return object.GetDeletionTimestamp() == nil && (settled(cb) || operation.ReadyToPivot(cb))
	})
	return cb, err
}

// settled reports whether a bootstrap is Ready or has failed with its current spec.
func settled(cb *v1alpha1.ClusterBootstrap) bool {
	if cb.Status.ObservedGeneration != cb.Generation {
		return false
	}
	return cb.Status.Phase == v1alpha1.BootstrapFailed && meta.IsStatusConditionTrue(cb.Status.Conditions, v1alpha1.ConditionFailed) ||
		cb.Status.Phase == v1alpha1.BootstrapReady && meta.IsStatusConditionTrue(cb.Status.Conditions, v1alpha1.ConditionReady)
}

// confirmMachines asks for confirmation before real machines are created.
func (a App) confirmMachines(o *operation.Operation, m *manifest.Manifest, plan bootstrap.Plan, yes bool) error {
	if yes || o.Rehearsal {
		return nil
	}
	question := fmt.Sprintf("Create %d machine(s) on %s (%s)?", len(plan.Machines), m.Provider.Name, m.Provider.Spec.Provider)
	if a.confirm(o.Context(), question) {
		return nil
	}
	if o.Context().Err() != nil {
		return o.Ended()
	}
	return failure.New(failure.Usage, errors.New("nothing was created; answer y, or pass --yes"))
}
