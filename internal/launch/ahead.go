// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/plan"
	"github.com/butlerdotdev/butler/internal/selfhosted"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/teardown"
	"github.com/butlerdotdev/butler/internal/workspace"
)

// stopPatience is how long a simulated platform has to end.
const stopPatience = 20 * time.Second

// Plan returns what Run would do. It creates nothing: neither on the platform, nor in the
// directory of the cluster.
func (l *Launch) Plan(ctx context.Context) (p plan.Plan, err error) {
	exists := false
	if l.Workspace.HasPlane() {
		l.Progress.Starting("reading the cluster")
		err = selfhosted.ReadInCharge(ctx, l.Workspace, func(c client.Client, cb *v1alpha1.ClusterBootstrap, silent error) error {
			if exists = cb != nil; !exists {
				return teardown.RefuseUnfinished(ctx, l.Workspace, c)
			}
			p, err = l.planKnown(ctx, c, cb, silent)
			return err
		})
	}
	if err != nil || exists {
		return p, err
	}
	return l.planNew(ctx)
}

// planKnown returns the plan of a cluster that exists.
func (l *Launch) planKnown(ctx context.Context, c client.Client, cb *v1alpha1.ClusterBootstrap, silent error) (plan.Plan, error) {
	if !cb.DeletionTimestamp.IsZero() {
		return plan.Plan{}, failure.Usagef("%s is being destroyed; finish that first: %s", l.Workspace.Name, l.Workspace.Command("destroy"))
	}
	p, err := l.planChange(ctx, c, cb)
	if err != nil {
		return p, err
	}
	p.Checks = plan.Checks(plan.Workstation, l.checkWorkstation(ctx))
	if silent != nil {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%v; this compares with its state at the pivot", silent))
	}
	return p, nil
}

// planNew returns the plan of a cluster that does not exist.
func (l *Launch) planNew(ctx context.Context) (p plan.Plan, err error) {
	resolved, err := bootstrap.NewPlan(operation.Effective(l.Manifest))
	if err != nil {
		return p, err
	}
	err = l.asking(ctx, func(o *operation.Operation, secret *corev1.Secret) error {
		p, _, err = l.planCreation(o, secret, resolved, true)
		return err
	})
	return p, err
}

// asking calls do with an operation that has no plane, and with the credentials of the
// platform. The simulated platform of a rehearsal ends afterwards.
func (l *Launch) asking(ctx context.Context, do func(*operation.Operation, *corev1.Secret) error) (err error) {
	o := operation.New(ctx, l.Workspace, l.Hooks)
	o.Charts, o.AcceptExpiring = l.Charts, l.AcceptExpiring
	if l.Workspace.Rehearsal {
		end, err := l.borrowSimulator(ctx, o)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, end()) }()
	}
	secret, err := l.chooseCredentials(o)
	if err != nil {
		return err
	}
	return do(o, secret)
}

// Validate returns the checks of the ProviderConfig alone. It creates nothing.
func (l *Launch) Validate(ctx context.Context) (out []plan.Check, err error) {
	err = l.asking(ctx, func(o *operation.Operation, secret *corev1.Secret) error {
		answers, err := o.Preflight(l.Provider, l.Manifest, secret, bootstrap.Plan{}, l.Progress)
		out = plan.Checks(plan.Platform, append(unasked(answers), answers.Findings...))
		return err
	})
	return out, err
}

// borrowSimulator uses the simulated platform of the rehearsal if that runs with this setup,
// else one that ends with the plan.
func (l *Launch) borrowSimulator(ctx context.Context, o *operation.Operation) (end func() error, err error) {
	info, _, running := sim.Running(l.Workspace.SimDir())
	if running && info.Provider == l.Provider.Type && reflect.DeepEqual(info.Setup, l.Setup) {
		o.Simulator = info
		return func() error { return nil }, nil
	}
	l.Progress.Starting(fmt.Sprintf("starting a simulated %s", l.Provider.Type))
	dir, err := os.MkdirTemp("", "butleradm-plan-")
	if err != nil {
		return nil, err
	}
	w := workspace.Workspace{Name: l.Workspace.Name, Dir: dir, Rehearsal: true}
	end = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
		defer cancel()
		return errors.Join(sim.Stop(ctx, w.SimDir()), os.RemoveAll(dir))
	}
	if o.Simulator, err = w.StartSimulator(ctx, l.Provider.Type, &l.Setup); err != nil {
		return nil, errors.Join(err, end())
	}
	return end, nil
}
