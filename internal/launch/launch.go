// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package launch runs a bootstrap from this machine: it opens the local plane, starts
// the simulated platform of a rehearsal, applies the manifest, and follows the cluster
// through its pivot until it is Ready.
package launch

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/history"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/plan"
	"github.com/butlerdotdev/butler/internal/selfhosted"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/teardown"
	"github.com/butlerdotdev/butler/internal/timeline"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/internal/workspace"
	"github.com/butlerdotdev/butler/provider"
)

// Launch is one bootstrap. All fields but Secret, Charts, Images, AcceptExpiring and Saved are
// required.
type Launch struct {
	Workspace workspace.Workspace
	Provider  provider.Provider
	Manifest  *manifest.Manifest
	// Setup is the initial state of the simulated platform of a rehearsal.
	Setup sim.Setup
	// Secret has the credentials that the user has given.
	Secret *corev1.Secret
	// Charts is the source of addons that the user has given.
	Charts string
	// Images is a file with the images of the controllers, for a KIND cluster.
	Images string
	// AcceptExpiring lets the cluster take over credentials that end by themselves.
	AcceptExpiring bool
	// NewPlane says that the workspace was created for this bootstrap.
	NewPlane bool
	Progress *ui.Reporter
	Hooks    operation.Hooks
	// Confirm asks the user a question before real machines are created.
	Confirm func(ctx context.Context, question string) bool
	// Teardown completes the deletion of a cluster that is deleted meanwhile.
	Teardown *teardown.Teardown
	// Saved is the plan that the user has reviewed; nil without one.
	Saved *plan.Plan
	// Ready is called when the cluster is Ready; changed says that it was not before.
	Ready func(changed bool)

	phases history.Stopwatch
}

// Run creates the cluster, or continues. It may be repeated at any time.
func (l *Launch) Run(ctx context.Context) (err error) {
	l.Progress.Starting(l.opening())
	simulated := l.simulateAhead(ctx)
	o, err := operation.Open(ctx, l.Workspace, l.Hooks, "butleradm bootstrap "+l.Workspace.Name)
	if err != nil {
		_ = simulated.Wait() // the error of the plane is the cause of both
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	o.Charts, o.AcceptExpiring, o.Images, o.Report = l.Charts, l.AcceptExpiring, l.Images, l.Progress.Waiting
	l.Progress.Step(l.opened(o))
	known, err := l.findCluster(ctx, o)
	if e := simulated.Wait(); err == nil {
		err = e
	}
	if err == nil {
		err = l.Workspace.Link()
	}
	if err == nil {
		err = l.startSimulator(ctx, o)
	}
	if err == nil {
		known, err = l.takeCharge(o, known)
	}
	if err != nil {
		return err
	}
	return l.create(o, known)
}

// opening reports what is being done about the plane.
func (l *Launch) opening() string {
	if r := l.Workspace.Plane(); r.Kind != workspace.Embedded {
		return "preparing the plane, " + r.String()
	}
	return "starting the local plane"
}

// opened reports where the plane is.
func (l *Launch) opened(o *operation.Operation) string {
	switch r := o.Plane(); {
	case r.Kind == workspace.Embedded:
		return "local plane: " + o.KubeconfigPath()
	case o.Deploys():
		return "plane: " + r.String() + "; controllers run on it"
	default:
		return "plane: " + r.String() + "; controllers run in this command"
	}
}

// findCluster returns the cluster as the local plane knows it, nil if it does not. It
// refuses a manifest that does not fit the cluster.
func (l *Launch) findCluster(ctx context.Context, o *operation.Operation) (*v1alpha1.ClusterBootstrap, error) {
	known, err := o.FindCluster(ctx, o.Local)
	if err == nil && known == nil {
		err = teardown.RefuseUnfinished(ctx, o.Workspace, o.Local)
	}
	if err == nil && !selfhosted.MovedAway(known) {
		err = o.CheckManifest(o.Context(), l.Manifest, known)
	}
	return known, err
}

// takeCharge connects to the plane that is in charge of the cluster: after its pivot
// that is the cluster's own.
func (l *Launch) takeCharge(o *operation.Operation, known *v1alpha1.ClusterBootstrap) (*v1alpha1.ClusterBootstrap, error) {
	known, err := selfhosted.FenceStalePlane(o, known)
	if err != nil || !selfhosted.MovedAway(known) {
		return known, err
	}
	l.Progress.Step("the plane on " + o.Plane().String() + " is fenced: " + known.Annotations[v1alpha1.AnnotationFenced])
	if known, err = selfhosted.NewMover(o, l.Provider, l.Progress).ResumeInCharge(known); err != nil {
		return nil, err
	}
	if err := o.CheckManifest(o.Context(), l.Manifest, known); err != nil {
		return nil, err
	}
	return known, o.CheckCharts(l.Manifest, known)
}

// startSimulator starts the platform of a rehearsal.
func (l *Launch) startSimulator(ctx context.Context, o *operation.Operation) (err error) {
	if !o.Rehearsal {
		return nil
	}
	l.Progress.Starting(fmt.Sprintf("starting the simulated %s", l.Provider.Type))
	if o.Simulator, err = o.StartSimulator(ctx, l.Provider.Type, &l.Setup); err != nil {
		return err
	}
	l.Progress.Step(fmt.Sprintf("simulated %s: %s", l.Provider.Type, o.Simulator.Admin))
	if operation.HasStandIns(l.Setup) {
		l.Progress.Step("addons: stand-ins for the charts; --charts upstream uses the real ones")
	}
	return nil
}

// simulateAhead starts the platform of a new rehearsal in parallel with the plane. One
// that may run already is not touched until the plane is locked and the manifest
// checked.
func (l *Launch) simulateAhead(ctx context.Context) *errgroup.Group {
	var group errgroup.Group
	if l.NewPlane {
		group.Go(func() error {
			_, err := l.Workspace.StartSimulator(ctx, l.Provider.Type, &l.Setup)
			return err
		})
	}
	return &group
}

// create creates the cluster once plane and platform are ready.
func (l *Launch) create(o *operation.Operation, known *v1alpha1.ClusterBootstrap) error {
	resolved, err := bootstrap.NewPlan(operation.Effective(l.Manifest))
	if err != nil {
		return err
	}
	if err := o.CheckDeploy(l.Manifest); err != nil {
		return err
	}
	secret, err := l.chooseCredentials(o)
	if err != nil {
		return err
	}
	if known == nil {
		err = l.begin(o, secret, resolved)
	} else {
		err = l.confirmChange(o, known)
	}
	if err != nil {
		return err
	}
	generation, err := o.Apply(o.Context(), l.Manifest, secret)
	if err != nil {
		return err
	}
	l.Hooks.Reached("bootstrap/applied")
	here := o.InCharge() == operation.LocalPlane
	if here {
		if err := l.startControllers(o); err != nil {
			return err
		}
	}
	cb, err := l.complete(o, l.warnings(resolved, here))
	if err != nil {
		return err
	}
	if known == nil && cb != nil {
		l.record(cb)
	}
	moved := here && o.InCharge() == operation.ClusterPlane
	l.Ready(moved || !wasReady(known, generation))
	return nil
}

// begin begins a new cluster, and its record, once the user has confirmed it.
func (l *Launch) begin(o *operation.Operation, secret *corev1.Secret, resolved bootstrap.Plan) error {
	if err := l.confirmCreation(o, secret, resolved); err != nil {
		return err
	}
	return timeline.Remove(o.TimelineFile())
}

// startControllers starts the controllers of the local plane, and installs them first
// where they run on it.
func (l *Launch) startControllers(o *operation.Operation) error {
	if err := o.Deploy(); err != nil {
		return err
	}
	return o.StartControllers(l.Provider)
}

// warnings returns the warnings about a plan; those about charts are for the plane that
// installs them.
func (l *Launch) warnings(resolved bootstrap.Plan, here bool) (out []string) {
	for _, w := range resolved.Warnings {
		out = append(out, w.Message)
	}
	out = append(out, bootstrap.ImageWarnings(l.Manifest.Cluster.Spec, l.Manifest.Provider.Spec)...)
	out = append(out, operation.IdleFaults(l.Setup)...)
	if here {
		out = append(out, operation.ChartWarnings(l.Charts, l.Manifest)...)
	}
	return out
}

// wasReady reports whether a cluster was Ready with its current spec.
func wasReady(known *v1alpha1.ClusterBootstrap, generation int64) bool {
	return known != nil && known.Generation == generation && known.Status.Phase == v1alpha1.BootstrapReady
}
