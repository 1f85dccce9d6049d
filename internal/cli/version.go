// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/release"
	"github.com/butlerdotdev/butler/internal/version"
)

func (a App) versionCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of butleradm and of its parts",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			info, err := release.Describe()
			if err != nil {
				return err
			}
			switch output {
			case "plain":
				return a.printVersion(info)
			case "json":
				encoder := json.NewEncoder(a.Out)
				encoder.SetIndent("", "  ")
				return encoder.Encode(info)
			}
			return failure.Usagef("--output must be plain or json, not %q", output)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "plain", "`FORMAT` of the output: plain or json")
	return c
}

func (a App) printVersion(info release.Info) error {
	fmt.Fprintln(a.Out, "butleradm", version.String())
	out := tabwriter.NewWriter(a.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintf(out, "  commit\t%s\n  date\t%s\n  built with\t%s for %s\n", info.Commit, info.Date, info.Go, info.Platform)
	for _, p := range info.Parts {
		fmt.Fprintf(out, "  %s\t%s\n", p.Name, p.Version)
	}
	for _, name := range slices.Sorted(maps.Keys(info.Images)) {
		fmt.Fprintf(out, "  image %s\t%s\n", name, info.Images[name])
	}
	return out.Flush()
}
