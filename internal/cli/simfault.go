// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/workspace"
)

func (a App) simFaultCommand() *cobra.Command {
	var c workspace.Choice
	var file string
	var lift bool
	cmd := &cobra.Command{
		Use:   "fault [CLUSTER] --faults FILE | --clear",
		Short: "Replace the fault plan of a running simulated platform",
		Long: `Replace the fault plan of a simulated platform while it runs, or remove all
faults. The platform is that of a rehearsed cluster, or with --state-dir the one
that "sim PROVIDER" runs in that directory. The plan's clock starts at once. The
plan applies until the simulator stops; the next start uses the original plan.

A plan is a list of faults in YAML, for example

  faults:
    # For half a minute, another platform answers at the same address.
    - {kind: secondPlatform, for: 30s}
    # After two minutes, and until --clear, nothing answers.
    - {kind: hang, after: 2m}

` + foldList("The kinds are", fault.Kinds()) + `.
docs/reference/faults.md describes them.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (file == "") != lift {
				return failure.Usagef("either --faults FILE or --clear is required")
			}
			plan, err := planIn(file)
			if err != nil {
				return err
			}
			name, dir, err := simulatedPlatform(c, args)
			if err != nil {
				return err
			}
			if err := sim.SetFaults(cmd.Context(), dir, plan); err != nil {
				return err
			}
			fmt.Fprintf(a.Err, "faults on the simulated platform of %s from now on: %d\n", name, len(plan.Faults))
			return nil
		},
	}
	cmd.Flags().StringVar(&c.StateDir, "state-dir", "", "`DIR` of the cluster's or of the platform's state (default: below $BUTLER_HOME)")
	cmd.Flags().StringVar(&file, "faults", "", "`FILE` with the new fault plan")
	cmd.Flags().BoolVar(&lift, "clear", false, "remove all faults")
	return cmd
}

// planIn returns the plan in a file, an empty one without a file.
func planIn(file string) (plan fault.Plan, err error) {
	if file == "" {
		return plan, nil
	}
	if plan, err = fault.Load(file); err != nil {
		return plan, failure.New(failure.Usage, err)
	}
	return plan, nil
}

// simulatedPlatform returns name and directory of the selected simulated platform: that
// of a rehearsed cluster, or the one that runs alone in a directory.
func simulatedPlatform(c workspace.Choice, args []string) (name, dir string, err error) {
	switch {
	case len(args) == 0 && c.StateDir != "":
		dir, err = filepath.Abs(c.StateDir)
		if err == nil && !workspace.IsSim(dir) {
			err = fmt.Errorf("no simulated platform has run in %s; for that of a rehearsed cluster, name the cluster", dir)
		}
		return dir, dir, err
	case len(args) != 1:
		return "", "", failure.Usagef("sim fault takes the name of one cluster, or --state-dir of a simulated platform")
	}
	c.Rehearse = true
	w, err := c.Find(args[0])
	return w.Name, w.SimDir(), err
}
