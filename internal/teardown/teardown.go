// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package teardown destroys clusters: through the plane that knows them, or by the tags
// of their objects on the platform. It deletes objects with the ids of the cluster,
// records them in a ledger, and does not change anything else.
package teardown

import (
	"context"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/inventory"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/selfhosted"
	"github.com/butlerdotdev/butler/internal/workspace"
	"github.com/butlerdotdev/butler/provider"
)

// Teardown holds the settings of a destroy and the functions of its caller.
type Teardown struct {
	Out, Err io.Writer
	Hooks    operation.Hooks
	// Provider finds the driver of a platform.
	Provider func(v1alpha1.ProviderType) (provider.Provider, error)
	// Confirm asks the user.
	Confirm func(ctx context.Context, question string) bool
	// Credentials returns those that the user has given for a platform; nil without any.
	Credentials func(*v1alpha1.ProviderConfig) (*corev1.Secret, error)
	// Ambient returns those of this machine, and their source.
	Ambient func(*v1alpha1.ProviderConfig) (*corev1.Secret, string, error)
	// NewCredentials is true if the user has given credentials.
	NewCredentials bool
	// ClusterID selects one of several clusters with the same name.
	ClusterID string
	// EvenIfGone continues if the platform has nothing of a cluster that is known to run
	// there, and EvenIfTenants continues if the cluster has tenants.
	EvenIfGone, EvenIfTenants bool
	// WithTenants deletes the tenant clusters first.
	WithTenants bool
	Yes, DryRun bool
	// byManifest is true if the name of the cluster comes from a manifest.
	byManifest bool
}

// Show prints what Destroy would delete. It also works while another command holds
// the plane.
func (t *Teardown) Show(ctx context.Context, w workspace.Workspace) error {
	discardLogs()
	var x *destruction
	var problem error
	err := w.ReadPlane(ctx, func(c client.Client) error {
		d, err := readTarget(ctx, w, c)
		if err == nil && !d.gone() {
			if x, problem = t.prepare(operation.New(ctx, w, t.Hooks), c, d); problem == nil {
				problem = x.findTenants(c)
			}
		}
		return err
	})
	switch {
	case err != nil || problem != nil:
		return errors.Join(err, problem)
	case x == nil:
		fmt.Fprintln(t.Err, w.AbsentError())
		return nil
	case x.unreachable != nil:
		fmt.Fprintf(t.Err, "note: %v\n", x.unreachable)
	}
	found, err := x.survey()
	if err != nil {
		return err
	}
	fmt.Fprint(t.Out, x.describeAll(found))
	if err := x.refuseTenants(); err != nil {
		return err
	}
	fmt.Fprintf(t.Out, "Nothing was changed. To delete all of it: %s\n", x.command())
	return nil
}

// Destroy deletes a cluster through its plane, after the user has confirmed it.
func (t *Teardown) Destroy(ctx context.Context, w workspace.Workspace) (err error) {
	o, err := operation.Open(ctx, w, t.Hooks, "butleradm destroy "+w.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	d, err := readTarget(ctx, w, o.Local)
	if err != nil {
		return err
	}
	if d.gone() {
		return t.reportDestroyed(ctx, o)
	}
	x, err := t.prepare(o, o.Local, d)
	if err != nil {
		return err
	}
	if selfhosted.Answered(x.unreachable) {
		return fmt.Errorf("%w; nothing was deleted", x.unreachable)
	}
	if x.unreachable != nil {
		return fmt.Errorf("%w; nothing was deleted; if it is gone for good, delete what it has on the platform: %s", x.unreachable, x.command())
	}
	found, err := x.survey()
	if err != nil {
		return err
	}
	if err := x.findTenants(o.Local); err != nil {
		return fmt.Errorf("%w; nothing was deleted", err)
	}
	fmt.Fprint(t.Err, x.describeAll(found))
	if err := x.refuseTenants(); err != nil {
		return err
	}
	o.Hooks.Reached("destroy/listed")
	if !t.Yes && !t.Confirm(ctx, fmt.Sprintf("Delete cluster %s?", w.Name)) {
		return failure.Usagef("nothing was deleted; answer y, or pass --yes")
	}
	if err = x.deleteTenants(o.Local, found); err != nil {
		return err
	}
	if err = x.run(found); err != nil {
		x.account()
		fmt.Fprintf(t.Err, "\nWhat is not gone yet is left in place.\n\n  continue:   %s\n  look at it: %s\n\n", w.Command("destroy"), w.Command("status"))
		return err
	}
	t.reportGone(w, x.ledger, x.copies)
	return nil
}

// command returns the command that deletes the cluster: through its plane, or without
// one that no longer answers.
func (x *destruction) command() string {
	if x.unreachable != nil {
		return x.Command("destroy") + " --orphans"
	}
	return x.Command("destroy")
}

// reportDestroyed reports on a cluster that its plane does not have, with the ledger if
// it was destroyed.
func (t *Teardown) reportDestroyed(ctx context.Context, o *operation.Operation) error {
	l, err := readConcludedLedger(ctx, o)
	if err != nil {
		return err
	}
	fmt.Fprintln(t.Err, o.AbsentError())
	if l != nil {
		fmt.Fprintln(t.Out, l.line("created"))
	}
	return nil
}

// readConcludedLedger returns the ledger of a cluster that is gone from its plane; nil
// if the cluster never had one. It is an error if the platform has not confirmed that
// nothing is left.
func readConcludedLedger(ctx context.Context, o *operation.Operation) (*ledger, error) {
	l, err := readLedger(ctx, o.Local, o.Name, "")
	if err == nil && l != nil && !l.complete {
		err = fmt.Errorf("%s is gone from its plane, but the platform has not confirmed that nothing is left of it; check by its tags: butleradm destroy -c FILE --orphans --cluster-id %s", o.Name, l.clusterID)
	}
	return l, err
}

// reportGone prints the copies that are kept and the ledger.
func (t *Teardown) reportGone(w workspace.Workspace, l *ledger, kept inventory.Copies) {
	fmt.Fprint(t.Err, kept.Line())
	if w.Rehearsal {
		fmt.Fprintf(t.Err, "\nThe simulated platform still runs; stop it with: %s", w.Command("sim stop"))
	}
	fmt.Fprintf(t.Err, "\nIts state on this machine stays; remove that with: %s\n\n", w.Command("forget"))
	fmt.Fprintln(t.Out, l.line("created"))
}
