// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package teardown destroys clusters: through the plane that knows them, or by the tags
// that their objects carry on the platform. It deletes what carries the ids of the
// cluster, accounts for it, and leaves everything else alone.
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

// Teardown is what the destruction of clusters is given by its caller.
type Teardown struct {
	Out, Err io.Writer
	Hooks    operation.Hooks
	// provider finds the driver of a platform.
	Provider func(v1alpha1.ProviderType) (provider.Provider, error)
	// confirm asks the user.
	Confirm func(ctx context.Context, question string) bool
	// credentials returns the user's own for a platform; nil means that there are none.
	Credentials func(*v1alpha1.ProviderConfig) (*corev1.Secret, error)
	// ambient returns those of this machine, and where they come from.
	Ambient func(*v1alpha1.ProviderConfig) (*corev1.Secret, string, error)
	// newCredentials says that the user has given credentials.
	NewCredentials bool
	// clusterID is the id that is meant where several clusters share a name.
	ClusterID string
	// evenIfGone destroys also if the platform has nothing of a cluster that is known to
	// run there, and evenIfTenants also if the cluster has tenants.
	EvenIfGone, EvenIfTenants bool
	Yes, DryRun               bool
	// byManifest says that the name of the cluster comes from a manifest.
	byManifest bool
}

// Show shows what destroy would delete. It also answers while another command
// works on the cluster.
func (t *Teardown) Show(ctx context.Context, w workspace.Workspace) error {
	quiet()
	var x *destruction
	var problem error
	err := w.ReadPlane(ctx, func(c client.Client) error {
		d, err := readTarget(ctx, w, c)
		if err == nil && !d.gone() {
			if x, problem = t.prepare(operation.New(ctx, w, t.Hooks), c, d); problem == nil {
				problem = x.askTenants(c)
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
	case x.silence != nil:
		fmt.Fprintf(t.Err, "note: %v\n", x.silence)
	}
	found, err := x.survey()
	if err != nil {
		return err
	}
	fmt.Fprint(t.Out, x.whole(found))
	if err := x.refuseTenants(); err != nil {
		return err
	}
	fmt.Fprintf(t.Out, "Nothing was changed. To delete all of it: %s\n", x.how())
	return nil
}

// Destroy deletes a cluster through its plane, after the user has seen what will go.
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
	if selfhosted.Answered(x.silence) {
		return fmt.Errorf("%w; nothing was deleted", x.silence)
	}
	if x.silence != nil {
		return fmt.Errorf("%w; nothing was deleted; if it is gone for good, delete what it has on the platform: %s", x.silence, x.how())
	}
	found, err := x.survey()
	if err != nil {
		return err
	}
	if err := x.askTenants(o.Local); err != nil {
		return fmt.Errorf("%w; nothing was deleted", err)
	}
	fmt.Fprint(t.Err, x.whole(found))
	if err := x.refuseTenants(); err != nil {
		return err
	}
	o.Hooks.Reached("destroy/listed")
	if !t.Yes && !t.Confirm(ctx, fmt.Sprintf("Delete cluster %s?", w.Name)) {
		return failure.Usagef("nothing was deleted; answer y, or pass --yes")
	}
	if err = x.run(found); err != nil {
		x.account()
		fmt.Fprintf(t.Err, "\nWhat is not gone yet is left in place.\n\n  continue:   %s\n  look at it: %s\n\n", w.Command("destroy"), w.Command("status"))
		return err
	}
	t.reportGone(w, x.ledger, x.copies)
	return nil
}

// how is the command that deletes the cluster: through its plane, or without one
// that does not answer any more.
func (x *destruction) how() string {
	if x.silence != nil {
		return x.Command("destroy") + " --orphans"
	}
	return x.Command("destroy")
}

// reportDestroyed reports on a cluster that its plane does not have: how
// it was destroyed, if it was.
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

// readConcludedLedger refuses a cluster that is gone from its plane without the platform having
// been asked at the end. Else it returns the ledger; nil means that there never was
// anything to enter.
func readConcludedLedger(ctx context.Context, o *operation.Operation) (*ledger, error) {
	l, err := readLedger(ctx, o.Local, o.Name, "")
	if err == nil && l != nil && !l.complete {
		err = fmt.Errorf("%s is gone from its plane, but the platform has not confirmed that nothing is left of it; check by its tags: butleradm destroy -c FILE --orphans --cluster-id %s", o.Name, l.clusterID)
	}
	return l, err
}

// reportGone ends with what the platform keeps and the ledger.
func (t *Teardown) reportGone(w workspace.Workspace, l *ledger, kept inventory.Copies) {
	fmt.Fprint(t.Err, kept.Line())
	if w.Rehearsal {
		fmt.Fprintf(t.Err, "\nThe simulated platform still runs; stop it with: %s", w.Command("sim stop"))
	}
	fmt.Fprintf(t.Err, "\nIts state on this machine stays; remove that with: %s\n\n", w.Command("forget"))
	fmt.Fprintln(t.Out, l.line("created"))
}
