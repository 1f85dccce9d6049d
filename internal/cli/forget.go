// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/internal/failure"
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
	o, check, err := a.newTeardown(destroyFlags{}).CheckForget(ctx, w)
	if o != nil {
		defer func() { err = errors.Join(err, o.Close()) }()
	}
	switch {
	case err != nil:
		return err
	case check.Refusal != nil && f.yes && f.left:
		fmt.Fprintf(a.Err, "note: %v\n", check.Refusal)
	case check.Refusal != nil:
		return fmt.Errorf("%w; to forget it all the same, pass --yes --even-if-left", check.Refusal)
	case !f.yes && !a.confirm(ctx, check.Question):
		return failure.Usagef("nothing was removed; answer y, or pass --yes")
	}
	return nil
}
