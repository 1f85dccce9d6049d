// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/charts"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/addon/source"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/internal/workspace"
)

func (a App) addonsCommand() *cobra.Command {
	var config string
	c := &cobra.Command{
		Use:   "addons -c FILE",
		Short: "List the addons of a cluster, or fetch them for later",
		Long: `List the addons of the ClusterBootstrap in FILE: their versions, their sources,
and which other addons must be ready first.`,
		Example: "  butleradm addons -c cluster.yaml\n  butleradm addons pull -c cluster.yaml --to ./charts",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			addons, err := loadAddons(config)
			if err != nil {
				return err
			}
			return a.listAddons(addons)
		},
	}
	registerConfig(c, &config)
	c.AddCommand(a.addonsPullCommand())
	return c
}

func (a App) addonsPullCommand() *cobra.Command {
	var config, to, from string
	c := &cobra.Command{
		Use:   "pull -c FILE --to DIR",
		Short: "Fetch the addons of a cluster into a directory",
		Long: `Fetch the charts, the manifests and the components of Cluster API providers
that the addons of the ClusterBootstrap in FILE need, into a directory.
bootstrap --charts DIR reads them from there, without a network. The container
images of the addons are not included.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to == "" {
				return failure.Usagef("--to DIR is required")
			}
			if err := checkCharts(from); err != nil {
				return err
			}
			addons, err := loadAddons(config)
			if err != nil {
				return err
			}
			return interrupted(cmd.Context(), a.pullAddons(cmd.Context(), addons, to, from))
		},
	}
	registerConfig(c, &config)
	c.Flags().StringVar(&to, "to", "", "`DIR` that the addons are written to")
	registerCharts(c, &from, "upstream")
	return c
}

func registerConfig(c *cobra.Command, to *string) {
	c.Flags().StringVarP(to, "config", "c", "", "manifest `FILE` with ClusterBootstrap and ProviderConfig")
}

// loadAddons returns the addons of a manifest.
func loadAddons(path string) ([]addon.Addon, error) {
	if path == "" {
		return nil, errNoManifest()
	}
	m, err := manifest.Load(path, operation.Plannable)
	if err != nil {
		return nil, failure.New(failure.Usage, err)
	}
	return operation.AddonsOf(m)
}

func (a App) listAddons(addons []addon.Addon) error {
	out := tabwriter.NewWriter(a.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(out, "ADDON\tVERSION\tSOURCE\tAFTER")
	for _, x := range addons {
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", x.Key, x.Version, x.Origin(), cmp.Or(strings.Join(x.Needs, ", "), "-"))
		for _, p := range x.Providers {
			fmt.Fprintf(out, "  %s\t%s\t%s\t\n", p.Name, p.Version, "github.com/"+p.Repository)
		}
	}
	return out.Flush()
}

// pullAddons fetches addons into a directory, and reads them back from there as a
// bootstrap does.
func (a App) pullAddons(ctx context.Context, addons []addon.Addon, to, from string) error {
	far, err := source.New(source.Options{Charts: from, Carried: charts.FS})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return fmt.Errorf("create the directory for the addons: %w", err)
	}
	near, err := source.New(source.Options{Charts: to})
	if err != nil {
		return err
	}
	addons = slices.DeleteFunc(slices.Clone(addons), operation.IsCarried)
	for i, x := range addons {
		fmt.Fprintf(a.Err, "fetching %s %s (%s)\n", x.Key, x.Version, ui.Part(i, len(addons)))
		if err := far.Save(ctx, x, to); err != nil {
			return err
		}
		saved, err := near.Fetch(ctx, x, operation.AnyVariables)
		if err != nil {
			return fmt.Errorf("read back the saved addon: %w", err)
		}
		place := x.Origin()
		if from != "" && from != source.Upstream {
			place = from
		}
		fmt.Fprintf(a.Out, "%s %s\n  from %s\n  %s\n", x.Key, x.Version, place, saved.Digest)
	}
	fmt.Fprintf(a.Err, "fetched (%s)\n\nUse them with: butleradm bootstrap PROVIDER -c FILE --charts %s\n", ui.Part(len(addons), len(addons)), workspace.Quoted(to))
	return nil
}
