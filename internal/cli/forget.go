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

// forgetFlags select the state that is removed.
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
		Long: `Remove the state of a cluster from this machine: the local plane with all its
objects and the log. For a rehearsal, also stop and remove the simulated
platform. On a plane that is a cluster of yours, also remove what is left of the
cluster there. Nothing is deleted on a real platform.

The command first queries the platform. It refuses while the platform holds
something of the cluster or cannot be queried, because without the state only
the tags on the platform identify the owner. --yes --even-if-left overrides
that.

A cluster that manages itself keeps running without the state of this machine,
but butleradm can no longer reach it by its name. Save its kubeconfig first.`,
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
	cmd.Flags().BoolVar(&f.yes, "yes", false, "remove without confirmation")
	cmd.Flags().BoolVar(&f.left, "even-if-left", false, "with --yes: remove even if the platform holds something of the cluster")
	return cmd
}

func (a App) forget(ctx context.Context, w workspace.Workspace, f forgetFlags) error {
	if err := a.agree(ctx, w, f); err != nil {
		return err
	}
	left, err := w.Remove(ctx, a.Hooks.Engine, f.yes && f.left)
	if err != nil {
		return fmt.Errorf("remove the state in %s: %w; run the same command again", w.Dir, err)
	}
	if left != nil {
		fmt.Fprintf(a.Err, "note: what %s has on its plane stays there: %v\n", w.Name, left)
	}
	fmt.Fprintf(a.Err, "removed the state of %s in %s\n", w.Name, w.Dir)
	return nil
}

// agree asks the user whether the state may be removed. It holds the lock of the plane
// meanwhile, so that the answer applies to the state that was shown.
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
		return fmt.Errorf("%w; to remove the state anyway, pass --yes --even-if-left", check.Refusal)
	case !f.yes && !a.confirm(ctx, check.Question):
		return failure.Usagef("nothing was removed; answer y, or pass --yes")
	}
	return nil
}
