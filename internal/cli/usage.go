// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/workspace"
)

func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return failure.Usagef("%s takes no arguments, got %q", c.CommandPath(), args)
	}
	return nil
}

func oneCluster(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return failure.Usagef("%s takes the name of one cluster%s", c.CommandPath(), known())
	}
	return nil
}

// known ends a sentence with the clusters of $BUTLER_HOME, if there are any.
func known() string {
	all, err := workspace.All()
	if err != nil || len(all) == 0 {
		return ""
	}
	return "; there is " + strings.Join(namesOf(all), ", ")
}

func namesOf(all []workspace.Workspace) (names []string) {
	for _, w := range all {
		names = append(names, w.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// needSubcommand refuses a command that only has subcommands.
func needSubcommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return failure.Usagef("a subcommand is required; see %s --help", c.CommandPath())
	}
	return unknownCommand(c, args)
}

// unknownCommand refuses arguments of a command that takes none, as they are meant to be a
// subcommand.
func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	meant := ""
	c.SuggestionsMinimumDistance = 2
	if similar := c.SuggestionsFor(args[0]); len(similar) > 0 {
		meant = ", did you mean " + strings.Join(similar, " or ") + "?"
	}
	return failure.Usagef("unknown command %q%s; see %s --help", args[0], meant, c.CommandPath())
}

// errNoManifest says that a command needs a manifest.
func errNoManifest() error {
	return failure.Usagef("-c FILE is required; butleradm init PROVIDER --to FILE writes a first manifest")
}
