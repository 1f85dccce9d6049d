// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/plan"
)

func (a App) planCommand() *cobra.Command {
	var f bootstrapFlags
	var out string
	c := &cobra.Command{
		Use:   "plan -c FILE [--rehearse]",
		Short: "Show what bootstrap would create or change",
		Long: `Show what bootstrap would do with FILE, without doing it.

For a new cluster: the machines with their types, disks and addresses, the load
balancer, the images, the addons with their versions and checksums, all checks
of the platform and of this machine, how long earlier runs took, and the cost.
For a cluster that exists: what FILE changes in place, what is refused, and why.

With --rehearse a simulated platform answers, which stops with the command.

--out saves the plan: bootstrap --plan then refuses to do anything else. Exit
code 3 means that a check is refused, 2 that FILE or a change is.`,
		Example: "  butleradm plan -c cluster.yaml --rehearse\n  butleradm plan -c cluster.yaml --credentials FILE --out saved\n  butleradm bootstrap " + a.exampleProvider() + " -c cluster.yaml --credentials FILE --plan saved",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.simulatorFlag = f.simulator.given(cmd)
			return interrupted(cmd.Context(), a.plan(cmd.Context(), f, out))
		},
	}
	registerConfig(c, &f.config)
	c.Flags().StringVar(&f.credentials, "credentials", "", "`PATH` of the platform's credentials, as for bootstrap")
	c.Flags().BoolVar(&f.rehearse, "rehearse", false, "ask a simulated platform")
	c.Flags().StringVar(&f.stateDir, "state-dir", "", "`DIR` of the cluster's state (default: below $BUTLER_HOME)")
	c.Flags().StringVarP(&f.output, "output", "o", "plain", "plain: for people; json: the plan for programs")
	c.Flags().StringVar(&out, "out", "", "`FILE` that the plan is saved to, for bootstrap --plan")
	c.Flags().BoolVar(&f.acceptExpiring, "accept-expiring", false, "let a cluster that manages itself take over credentials that expire")
	registerCharts(c, &f.charts, "upstream; in a rehearsal stand-ins")
	f.simulator.register(c)
	return c
}

func (a App) plan(ctx context.Context, f bootstrapFlags, out string) error {
	f.timeout = 1 // it has none
	if err := f.check(); err != nil {
		return err
	}
	p, err := a.makePlan(ctx, f)
	if err != nil {
		return err
	}
	if out != "" {
		if err := p.Save(out); err != nil {
			return err
		}
	}
	if err := a.printPlan(p, f.output); err != nil {
		return err
	}
	return refusalOf(p)
}

// makePlan returns the plan for a manifest.
func (a App) makePlan(ctx context.Context, f bootstrapFlags) (plan.Plan, error) {
	l, err := a.asking(ctx, f)
	if err != nil {
		return plan.Plan{}, err
	}
	defer l.Progress.Clear()
	return l.Plan(ctx)
}

func (a App) printPlan(p plan.Plan, output string) error {
	if output == "json" {
		return a.printJSON(p)
	}
	_, err := fmt.Fprint(a.Out, plan.Render(p, plan.Full))
	return err
}

// refusalOf returns the error for a plan that bootstrap would refuse.
func refusalOf(p plan.Plan) error {
	switch checks, changes := p.Refusals(); {
	case changes > 0:
		return failure.Usagef("%d of %d changes to %s are refused; nothing was changed", changes, len(p.Changes), p.Cluster)
	case checks > 0:
		return failure.Refusedf("%d of %d checks are refused; nothing was created", checks, len(p.Checks))
	}
	return nil
}
