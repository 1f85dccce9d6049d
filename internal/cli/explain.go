// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/internal/explain"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/ui"
)

// kindWidth is the width of the names of kinds.
const kindWidth = 21

func (a App) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [FIELD]",
		Short: "Describe a field of the manifest",
		Long: `Describe a field of the manifest, or of another kind of this project: its type,
its default, its rules, and the fields below it. Without FIELD the kinds are
listed.

FIELD is a whole name, or the end of one if only one field ends with it.`,
		Example: `  butleradm explain ClusterBootstrap.spec.cluster.topology
  butleradm explain cluster.topology
  butleradm explain ProviderConfig.spec.credentialsRef`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return failure.Usagef("%s takes one field, got %q", cmd.CommandPath(), args)
			}
			return nil
		},
		ValidArgsFunction: completeFields,
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := explain.Load()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return a.printKinds(all)
			}
			return a.explain(all, args[0])
		},
	}
}

func (a App) explain(all explain.Fields, text string) error {
	found := all.Find(text)
	switch len(found) {
	case 1:
		_, err := fmt.Fprint(a.Out, all.Render(found[0]))
		return err
	case 0:
		if near := all.Nearest(text); len(near) > 0 {
			return failure.Usagef("there is no field %q; did you mean one of these?\n  %s", text, strings.Join(near, "\n  "))
		}
		return failure.Usagef("there is no field %q; butleradm explain lists the kinds", text)
	}
	var names []string
	for _, f := range found {
		names = append(names, f.Name())
	}
	return failure.Usagef("%d fields end with %q; name one of them in full:\n  %s", len(names), text, strings.Join(names, "\n  "))
}

func (a App) printKinds(all explain.Fields) error {
	for _, f := range all {
		if f.Path != "" {
			continue
		}
		text := strings.Join(ui.Wrap(f.Summary(), ui.Columns-kindWidth), "\n"+strings.Repeat(" ", kindWidth))
		if _, err := fmt.Fprintf(a.Out, "%-*s%s\n", kindWidth, f.Kind, text); err != nil {
			return err
		}
	}
	return nil
}

// completeFields completes the whole names of fields, level by level.
func completeFields(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	all, err := explain.Load()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, f := range all {
		if strings.HasPrefix(f.Name(), begun) && strings.Count(f.Name(), ".") <= strings.Count(begun, ".") {
			names = append(names, f.Name())
		}
	}
	return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
