// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/workspace"
)

func (a App) simCheckCommand() *cobra.Command {
	var c workspace.Choice
	var empty bool
	cmd := &cobra.Command{
		Use:   "check [CLUSTER]",
		Short: "Report invariant violations and objects left behind",
		Long: `Report the invariant violations that a simulated platform has recorded: two
machines with one owner, two writers at a time, a key in plain text. Then list
the objects on it that have an owner's tags. The exit code is 1 if there are
violations; with --empty also if objects are left.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := c.FindRehearsals("check", args)
			if err != nil {
				return err
			}
			if len(all) == 0 {
				fmt.Fprintln(a.Err, "$BUTLER_HOME has no rehearsals; nothing was checked")
			}
			var problems []error
			for _, w := range all {
				problems = append(problems, a.checkSim(cmd.Context(), w, empty))
			}
			return interrupted(cmd.Context(), errors.Join(problems...))
		},
	}
	cmd.Flags().StringVar(&c.StateDir, "state-dir", "", "`DIR` of the cluster's state (default: below $BUTLER_HOME)")
	cmd.Flags().BoolVar(&empty, "empty", false, "fail if objects with an owner's tags are left")
	return cmd
}

// checkSim prints the violations and remaining objects of one platform. Violations are
// an error.
func (a App) checkSim(ctx context.Context, w workspace.Workspace, empty bool) error {
	violations, err := sim.Violations(w.SimDir())
	if err != nil {
		return err
	}
	for _, v := range violations {
		fmt.Fprintf(a.Out, "%s\t%s: %s\n", v.Time.Local().Format(time.DateTime), v.Invariant, v.Message)
	}
	left, err := a.left(ctx, w, empty)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "%s: %d violations, %s\n", w.Name, len(violations), left)
	if len(violations) > 0 {
		return fmt.Errorf("%d invariant violations on the simulated platform of %s", len(violations), w.Name)
	}
	return nil
}

// left prints the remaining objects and returns their count as text. A platform that
// does not run cannot be queried, which is an error if it has to be empty.
func (a App) left(ctx context.Context, w workspace.Workspace, empty bool) (string, error) {
	if _, _, running := sim.Running(w.SimDir()); !running && !empty {
		return "not running", nil
	}
	left, err := sim.Left(ctx, w.SimDir())
	if err == nil {
		err = a.printLeft(left)
	}
	if err == nil && empty && len(left) > 0 {
		err = fmt.Errorf("%d objects are left on the simulated platform of %s", len(left), w.Name)
	}
	return fmt.Sprintf("%d objects with an owner", len(left)), err
}

func (a App) printLeft(left []audit.Object) error {
	if len(left) == 0 {
		return nil
	}
	out := tabwriter.NewWriter(a.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(out, "RESOURCE\tNAME\tCLUSTER\tID OF CLUSTER\tID OF OWNER")
	for _, o := range left {
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", o.Resource, o.Name, cmp.Or(o.Cluster, "-"), cmp.Or(o.ClusterID, "-"), o.OwnerID)
	}
	return out.Flush()
}
