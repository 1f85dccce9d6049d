// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

func (a App) simFaultCommand() *cobra.Command {
	var c choice
	var file string
	var lift bool
	cmd := &cobra.Command{
		Use:   "fault CLUSTER --faults FILE | --clear",
		Short: "Give a simulated platform that runs another fault plan",
		Long: `Give the simulated platform of a rehearsed cluster another fault plan while it
runs, or lift all faults. The plan's clock starts at once. It holds until the
simulator ends; when that is started again, what it was started with counts.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (file == "") != lift {
				return usage("what shall go wrong? take either --faults FILE or --clear")
			}
			if len(args) != 1 {
				return usage("sim fault takes the name of one cluster")
			}
			var plan fault.Plan
			if file != "" {
				var err error
				if plan, err = fault.Load(file); err != nil {
					return &exit{exitUsage, err}
				}
			}
			c.rehearse = true
			w, err := c.find(args[0])
			if err != nil {
				return err
			}
			if err := sim.SetFaults(cmd.Context(), w.sim(), plan); err != nil {
				return err
			}
			fmt.Fprintf(a.Err, "faults on the simulated platform of %s from now on: %d\n", w.name, len(plan.Faults))
			return nil
		},
	}
	cmd.Flags().StringVar(&c.stateDir, "state-dir", "", "`DIR` of the cluster's state (default: below $BUTLER_HOME)")
	cmd.Flags().StringVar(&file, "faults", "", "`FILE` with what goes wrong from now on")
	cmd.Flags().BoolVar(&lift, "clear", false, "nothing goes wrong from now on")
	return cmd
}
