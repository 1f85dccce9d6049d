// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/internal/workspace"
)

// completeClusters completes the names of the clusters of $BUTLER_HOME.
func completeClusters(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	all, err := workspace.All()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, w := range all {
		if strings.HasPrefix(w.Name, begun) {
			names = append(names, w.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
}

// completing makes all commands that take a cluster complete its name.
func completing(c *cobra.Command) {
	for _, child := range c.Commands() {
		completing(child)
	}
	if strings.Contains(c.Use, "CLUSTER") && c.ValidArgsFunction == nil {
		c.ValidArgsFunction = completeClusters
	}
}

// addCompletion adds cobra's command, which refuses mistakes as all others do.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	completion, _, err := root.Find([]string{"completion"})
	if err != nil {
		return
	}
	completion.Args, completion.RunE = nil, needSubcommand
	for _, shell := range completion.Commands() {
		shell.Args = noArgs
		shell.Long = strings.Replace(shell.Long, ", you can install it via", ", install it with", 1)
	}
}

// completeProviders completes the names of providers.
func (a App) completeProviders(_ *cobra.Command, args []string, begun string) (out []string, _ cobra.ShellCompDirective) {
	for _, p := range a.Providers {
		if name := string(p.Type); len(args) == 0 && strings.HasPrefix(name, begun) {
			out = append(out, name)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
