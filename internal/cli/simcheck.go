// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
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
violations; with --empty also if objects are left.

The platform is that of a rehearsed cluster, or with --state-dir the one that
"sim PROVIDER" runs in that directory.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := checkedPlatforms(c, args)
			if err != nil {
				return err
			}
			if len(all) == 0 {
				fmt.Fprintln(a.Err, "$BUTLER_HOME has no rehearsals; nothing was checked")
			}
			var problems []error
			for _, p := range all {
				problems = append(problems, a.checkSim(cmd.Context(), p, empty))
			}
			return interrupted(cmd.Context(), errors.Join(problems...))
		},
	}
	cmd.Flags().StringVar(&c.StateDir, "state-dir", "", "`DIR` of the cluster's or of the platform's state (default: below $BUTLER_HOME)")
	cmd.Flags().BoolVar(&empty, "empty", false, "fail if objects with an owner's tags are left")
	return cmd
}

// checkedPlatform is a simulated platform: its name, and the directory of its state.
type checkedPlatform struct{ name, dir string }

// checkedPlatforms returns those of rehearsed clusters, or the one that runs alone in a
// directory.
func checkedPlatforms(c workspace.Choice, args []string) (out []checkedPlatform, err error) {
	dir, err := filepath.Abs(c.StateDir)
	if err == nil && len(args) == 0 && c.StateDir != "" && workspace.IsSim(dir) {
		return []checkedPlatform{{filepath.Base(dir), dir}}, nil
	}
	all, err := c.FindRehearsals("check", args)
	for _, w := range all {
		out = append(out, checkedPlatform{w.Name, w.SimDir()})
	}
	return out, err
}

// checkSim prints the violations and remaining objects of one platform. Violations are
// an error.
func (a App) checkSim(ctx context.Context, p checkedPlatform, empty bool) error {
	violations, err := sim.Violations(p.dir)
	if err != nil {
		return err
	}
	for _, v := range violations {
		fmt.Fprintf(a.Out, "%s\t%s: %s\n", v.Time.Local().Format(time.DateTime), v.Invariant, v.Message)
	}
	left, err := a.left(ctx, p, empty)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "%s: %d violations, %s\n", p.name, len(violations), left)
	if len(violations) > 0 {
		return fmt.Errorf("%d invariant violations on the simulated platform of %s", len(violations), p.name)
	}
	return nil
}

// left prints the remaining objects and returns their count as text. A platform that
// does not run cannot be queried, which is an error if it has to be empty.
func (a App) left(ctx context.Context, p checkedPlatform, empty bool) (string, error) {
	if _, _, running := sim.Running(p.dir); !running && !empty {
		return "not running", nil
	}
	left, err := sim.Left(ctx, p.dir)
	if err == nil {
		err = a.printLeft(left)
	}
	if err == nil && empty && len(left) > 0 {
		err = fmt.Errorf("%d objects are left on the simulated platform of %s", len(left), p.name)
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
