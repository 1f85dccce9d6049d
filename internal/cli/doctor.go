// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/plan"
	"github.com/butlerdotdev/butler/internal/workspace"
	"github.com/butlerdotdev/butler/internal/workstation"
)

// publicHost is where the images of this project's controllers come from by default.
const publicHost = "ghcr.io"

func (a App) doctorCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine",
		Long: `Check whether this machine can run a local plane and reach a platform: its state
directory, disk space, memory, limits, ports, clock, proxies and name
resolution. Nothing is changed. Exit code 3 means that a check is refused.

butleradm plan makes the same checks for one manifest, and asks the platform.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "plain" && output != "json" {
				return failure.Usagef("--output must be plain or json, not %q", output)
			}
			return interrupted(cmd.Context(), a.doctor(cmd.Context(), output))
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "plain", "`FORMAT` of the output: plain or json")
	return c
}

func (a App) doctor(ctx context.Context, output string) error {
	home, err := workspace.Home()
	if err != nil {
		return err
	}
	found := workstation.Check(ctx, workstation.Options{Home: home, Hosts: []string{publicHost}})
	return a.printChecks(plan.Checks(plan.Workstation, found), output)
}

// printChecks prints checks, and refuses if one of them does.
func (a App) printChecks(all []plan.Check, output string) error {
	if output == "json" {
		if err := a.printJSON(all); err != nil {
			return err
		}
	} else if _, err := fmt.Fprint(a.Out, plan.RenderChecks(all)); err != nil {
		return err
	}
	if refused, _ := (plan.Plan{Checks: all}).Refusals(); refused > 0 {
		return failure.Refusedf("%d of %d checks are refused", refused, len(all))
	}
	return nil
}
