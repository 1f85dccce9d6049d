// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/internal/launch"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/internal/workspace"
	"github.com/butlerdotdev/butler/provider"
)

func (a App) providerCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "provider",
		Short: "List providers, and check a ProviderConfig",
		RunE:  needSubcommand,
	}
	c.AddCommand(a.providerListCommand(), a.providerValidateCommand())
	return c
}

func (a App) providerListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the providers of this build",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			out := tabwriter.NewWriter(a.Out, 0, 4, 2, ' ', 0)
			fmt.Fprintln(out, "PROVIDER\tRUNS\tREHEARSAL\tCREDENTIALS")
			for _, p := range a.Providers {
				_, err := a.simulator(p.Type)
				fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", p.Type, place(p), map[bool]string{true: "yes", false: "no"}[err == nil], loginOf(p.Login))
			}
			return out.Flush()
		},
	}
}

func place(p provider.Provider) string {
	if p.Type.OnPrem() {
		return "on premises"
	}
	return "cloud"
}

// loginOf is the first of what --credentials takes, in few words.
func loginOf(l provider.Login) string {
	text, _, _ := strings.Cut(cmp.Or(l.Usage, "YAML with the keys of the Secret"), ":")
	text, _, _ = strings.Cut(text, ",")
	return ui.Clip(text, ui.Columns/2)
}

func (a App) providerValidateCommand() *cobra.Command {
	var f bootstrapFlags
	c := &cobra.Command{
		Use:   "validate -c FILE [--rehearse]",
		Short: "Check the ProviderConfig of a manifest",
		Long: `Check the ProviderConfig in FILE: whether the platform accepts the credentials,
and has the image, the networks and the other objects that it names. Machines
are not checked; butleradm plan does that. Nothing is created. Exit code 3
means that a check is refused.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.timeout, f.simulatorFlag = 1, f.simulator.given(cmd)
			return interrupted(cmd.Context(), a.validate(cmd.Context(), f))
		},
	}
	registerConfig(c, &f.config)
	c.Flags().StringVar(&f.credentials, "credentials", "", "`PATH` of the platform's credentials, as for bootstrap")
	c.Flags().BoolVar(&f.rehearse, "rehearse", false, "ask a simulated platform")
	c.Flags().StringVar(&f.stateDir, "state-dir", "", "`DIR` of the cluster's state (default: below $BUTLER_HOME)")
	c.Flags().StringVarP(&f.output, "output", "o", "plain", "`FORMAT` of the output: plain or json")
	f.simulator.register(c)
	return c
}

func (a App) validate(ctx context.Context, f bootstrapFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	l, err := a.asking(ctx, f)
	if err != nil {
		return err
	}
	defer l.Progress.Clear()
	checks, err := l.Validate(ctx)
	if err != nil {
		return err
	}
	l.Progress.Clear()
	return a.printChecks(checks, f.output)
}

// asking returns a launch that only asks the platform.
func (a App) asking(ctx context.Context, f bootstrapFlags) (*launch.Launch, error) {
	m, err := f.load()
	if err != nil {
		return nil, err
	}
	p, err := a.provider(m.Provider.Spec.Provider)
	if err != nil {
		return nil, err
	}
	l, err := a.newLaunch(ctx, p, m, f, ui.NewReporter(a.Err, a.Err, "plain"))
	if err != nil {
		return nil, err
	}
	choice := workspace.Choice{StateDir: f.stateDir, Rehearse: f.rehearse}
	l.Workspace, err = choice.Place(m.Cluster.Spec.Cluster.Name)
	return l, err
}
