// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"
	"errors"
	"fmt"

	"github.com/butlerdotdev/butler/internal/inventory"
	"github.com/butlerdotdev/butler/internal/lock"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/selfhosted"
	"github.com/butlerdotdev/butler/internal/workspace"
)

// ForgetCheck is the result of CheckForget: the question for the user, or a refusal.
type ForgetCheck struct {
	Question string
	Refusal  error // nil if nothing is lost
}

// CheckForget checks whether the state of a cluster may be removed. The caller closes
// the returned operation, if any.
func (t *Teardown) CheckForget(ctx context.Context, w workspace.Workspace) (o *operation.Operation, check ForgetCheck, err error) {
	check.Question = fmt.Sprintf("Remove the state of %s in %s?", w.Name, w.Dir)
	if !w.HasPlane() {
		check.Refusal = fmt.Errorf("the local plane is lost, so it is not known what the platform holds of %s; find that by its tags first: butleradm destroy -c FILE --orphans", w.Name)
		return nil, check, nil
	}
	o, err = operation.Open(ctx, w, t.Hooks, "butleradm forget "+w.Name)
	if errors.Is(err, lock.ErrHeld) || ctx.Err() != nil {
		return nil, check, err
	}
	if err != nil {
		check.Refusal = fmt.Errorf("the local plane does not start, so it is not known what the platform holds of %s: %w", w.Name, err)
		return nil, check, nil
	}
	d, err := readTarget(ctx, w, o.Local)
	switch {
	case err != nil:
		return o, check, err
	case d.gone():
		_, check.Refusal = readConcludedLedger(ctx, o)
	case d.id != "":
		check.Refusal = t.checkLeft(o, d)
	}
	return o, check, nil
}

// checkLeft returns an error if the platform holds objects of a cluster, or cannot be
// queried.
func (t *Teardown) checkLeft(o *operation.Operation, d *target) error {
	x, err := t.prepare(o, o.Local, d)
	if err != nil {
		return fmt.Errorf("it is not known what the platform holds of %s: %w", o.Name, err)
	}
	found, err := x.survey()
	if err != nil {
		return err
	}
	if len(found) == 0 {
		fmt.Fprint(t.Err, x.copies.Line())
		return nil
	}
	fmt.Fprintln(t.Err, x.describe(found))
	if selfhosted.MovedAway(d.cluster) && x.unreachable == nil {
		fmt.Fprintf(t.Err, "%s manages itself, and keeps running. Without the state of this machine\nbutleradm has no status, kubeconfig and destroy for it; save its kubeconfig:\n\n  %s > kubeconfig\n\n", o.Name, o.Command("kubeconfig"))
	}
	return fmt.Errorf("the platform still holds %s of %s; destroy it first: %s", inventory.CountByKind(found.Parts()), o.Name, x.command())
}
