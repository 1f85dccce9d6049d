// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package reference writes the reference of commands: a page and man pages.
package reference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Commands returns a command and all below it that users see, in the order of their names.
func Commands(root *cobra.Command) []*cobra.Command {
	root.InitDefaultCompletionCmd()
	return visible(root)
}

func visible(c *cobra.Command) (out []*cobra.Command) {
	if c.Hidden || c.Name() == "help" {
		return nil
	}
	out = append(out, c)
	children := slices.Clone(c.Commands())
	slices.SortFunc(children, func(a, b *cobra.Command) int { return strings.Compare(a.Name(), b.Name()) })
	for _, child := range children {
		out = append(out, visible(child)...)
	}
	return out
}

// flags returns the flags of a command that users see, but for --help.
func flags(c *cobra.Command) (out []*pflag.Flag) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" && f.Name != "version" {
			out = append(out, f)
		}
	})
	return out
}

// synopsis is how a command is called.
func synopsis(c *cobra.Command) string {
	if !c.Runnable() || c.HasAvailableSubCommands() && strings.TrimSpace(c.Use) == c.Name() {
		return c.CommandPath() + " COMMAND"
	}
	return strings.TrimSuffix(c.UseLine(), " [flags]")
}

// described is the name of a flag with its argument, and what it means.
func described(f *pflag.Flag) (name, usage string) {
	argument, usage := pflag.UnquoteUsage(f)
	name = "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	if argument != "" {
		name += " " + argument
	}
	if d := f.DefValue; d != "" && d != "false" && d != "[]" && !strings.Contains(usage, "default") {
		usage += fmt.Sprintf(" (default %s)", d)
	}
	return name, usage
}

// text is the description of a command.
func text(c *cobra.Command) string {
	if c.Long != "" {
		return strings.TrimSpace(c.Long)
	}
	return c.Short + "."
}
