// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/inventory"
	"github.com/butlerdotdev/butler/internal/lock"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/selfhosted"
	"github.com/butlerdotdev/butler/internal/workspace"
)

// forgetFlags say which state is to go.
type forgetFlags struct {
	workspace.Choice
	yes  bool
	left bool
}

func (a App) forgetCommand() *cobra.Command {
	var f forgetFlags
	cmd := &cobra.Command{
		Use:   "forget CLUSTER",
		Short: "Remove the state of a cluster from this machine",
		Long: `Remove what this machine has of a cluster: the local plane with all that it
knows, the log, and of a rehearsal the simulated platform, which is stopped
first. Nothing is deleted on a real platform.

The platform is asked first. While it holds something of the cluster, or cannot
be asked, the command refuses: without the state only the tags on the platform
tell whose that is. To forget it all the same takes --yes and --even-if-left.

A cluster that manages itself would go on without the state of this machine, but
butleradm could not reach it by its name any more. Save its kubeconfig before
you insist.`,
		Args: oneCluster,
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := f.Locate(args[0])
			if err != nil {
				return err
			}
			return interrupted(cmd.Context(), a.forget(cmd.Context(), w, f))
		},
	}
	registerChoice(&f.Choice, cmd)
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&f.left, "even-if-left", false, "with --yes: also while the platform holds something of the cluster")
	return cmd
}

// farewell is what there is to say before the state of a cluster goes.
type farewell struct {
	question string
	refusal  error // nil if nothing is lost
}

func (a App) forget(ctx context.Context, w workspace.Workspace, f forgetFlags) error {
	if err := a.agree(ctx, w, f); err != nil {
		return err
	}
	if err := w.Remove(ctx); err != nil {
		return fmt.Errorf("remove the state in %s: %w; run the same command again", w.Dir, err)
	}
	fmt.Fprintf(a.Err, "%s is forgotten; its state in %s is removed\n", w.Name, w.Dir)
	return nil
}

// agree has the user's word that the state may go. Until then nobody else gets the
// plane: what was asked about is what goes.
func (a App) agree(ctx context.Context, w workspace.Workspace, f forgetFlags) (err error) {
	o, say, err := a.farewell(ctx, w)
	if o != nil {
		defer func() { err = errors.Join(err, o.Close()) }()
	}
	switch {
	case err != nil:
		return err
	case say.refusal != nil && f.yes && f.left:
		fmt.Fprintf(a.Err, "note: %v\n", say.refusal)
	case say.refusal != nil:
		return fmt.Errorf("%w; to forget it all the same, pass --yes --even-if-left", say.refusal)
	case !f.yes && !a.confirm(ctx, say.question):
		return failure.Usagef("nothing was removed; answer y, or pass --yes")
	}
	return nil
}

// farewell looks at what would be lost with the state of a cluster. The plane that
// it has opened for that, if any, has to be closed.
func (a App) farewell(ctx context.Context, w workspace.Workspace) (o *operation.Operation, say farewell, err error) {
	say.question = fmt.Sprintf("Remove the state of %s in %s?", w.Name, w.Dir)
	if !w.HasPlane() {
		say.refusal = fmt.Errorf("the local plane is lost, so nobody can say what the platform holds of %s; find that by its tags first: butleradm destroy -c FILE --orphans", w.Name)
		return nil, say, nil
	}
	o, err = operation.Open(ctx, w, a.Hooks, "butleradm forget "+w.Name)
	if errors.Is(err, lock.ErrHeld) || ctx.Err() != nil {
		return nil, say, err
	}
	if err != nil {
		say.refusal = fmt.Errorf("the local plane does not start, so nobody can say what the platform holds of %s: %w", w.Name, err)
		return nil, say, nil
	}
	d, err := readTarget(ctx, w, o.Local)
	switch {
	case err != nil:
		return o, say, err
	case d.gone():
		_, say.refusal = readConcludedLedger(ctx, o)
	case d.id != "":
		say.refusal = a.leftOf(o, d)
	}
	return o, say, nil
}

// leftOf tells what the platform holds of a cluster, or why it cannot be asked;
// nil means that it holds nothing.
func (a App) leftOf(o *operation.Operation, d *target) error {
	x, err := a.destruction(o, o.Local, d, destroyFlags{})
	if err != nil {
		return fmt.Errorf("nobody can say what the platform holds of %s: %w", o.Name, err)
	}
	found, err := x.survey()
	if err != nil {
		return err
	}
	if len(found) == 0 {
		fmt.Fprint(a.Err, x.copies.Line())
		return nil
	}
	fmt.Fprintln(a.Err, x.picture(found))
	if selfhosted.MovedAway(d.cluster) && x.silence == nil {
		fmt.Fprintf(a.Err, "%s manages itself, and would go on doing so. Without the state of this machine\nbutleradm has no status, kubeconfig and destroy for it; save what leads to it:\n\n  %s > kubeconfig\n\n", o.Name, o.Command("kubeconfig"))
	}
	return fmt.Errorf("the platform still holds %s of %s; destroy it first: %s", inventory.CountByKind(found.Parts()), o.Name, x.how())
}
