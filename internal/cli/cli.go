// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package cli is the butleradm command.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/internal/version"
	"github.com/butlerdotdev/butler/provider"
)

// The exit codes of butleradm.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitRefused     = 3
	exitTimeout     = 124
	exitInterrupted = 130
)

// App holds the parts of butleradm.
type App struct {
	// Providers that clusters can be bootstrapped on.
	Providers []provider.Provider
	// Simulators of the platforms that can be rehearsed.
	Simulators []facade.Platform
	// Component runs one component of a control plane in this process and
	// returns its exit code.
	Component func(args []string) int
	Out, Err  io.Writer
	// Hooks are for tests; the zero value has none.
	Hooks Hooks
}

// Hooks let a test stop a command at points that cannot be observed from outside.
type Hooks = operation.Hooks

// Main runs the command and returns its exit code.
func (a App) Main(args []string) int {
	// The executable runs itself in this way as a component of a plane.
	if len(args) > 0 && args[0] == "component" {
		return a.Component(args[1:])
	}
	// Kubernetes adds a flag to every command of the process that links it.
	pflag.CommandLine = pflag.NewFlagSet("butleradm", pflag.ContinueOnError)
	// What libraries log is not for the terminal: an operation has a file for it.
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first Ctrl-C ends things in order, a second one at once.
	context.AfterFunc(ctx, stop)
	root := a.Command()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if invalid, ok := errors.AsType[*manifest.Invalid](err); ok {
		fmt.Fprintln(a.Err, invalid)
	}
	fmt.Fprintln(a.Err, "butleradm:", strings.TrimPrefix(summary(err), "butleradm "))
	return codeOf(err)
}

// codeOf returns the exit code for an error.
func codeOf(err error) int {
	switch failure.KindOf(err) {
	case failure.Usage:
		return exitUsage
	case failure.Refused:
		return exitRefused
	case failure.TimedOut:
		return exitTimeout
	case failure.Interrupted:
		return exitInterrupted
	}
	return exitFailed
}

// summary returns an error as one sentence.
func summary(err error) string {
	if invalid, ok := errors.AsType[*manifest.Invalid](err); ok {
		return invalid.Summary()
	}
	return err.Error()
}

// Command returns the command with all its subcommands.
func (a App) Command() *cobra.Command {
	root := &cobra.Command{
		Use:   "butleradm",
		Short: "Create a Talos Linux management cluster on your infrastructure",
		Long: `butleradm creates a Talos Linux management cluster on your infrastructure. It
needs no other tool. Start with a rehearsal: the real program with your own
manifest, against a simulated platform.

  butleradm bootstrap ` + a.exampleProvider() + ` -c cluster.yaml --rehearse

State is kept in $BUTLER_HOME (default ~/.butler).

Exit codes: 0 done, 1 failed, 2 usage error or invalid manifest, 3 refused by
the preflight, 124 timed out, 130 interrupted. After 2 and 3 nothing was
created. After the others everything is left in place.`,
		Version:       version.String(),
		Args:          unknownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("butleradm {{.Version}}\n")
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return failure.Usagef("%w; see %s --help", err, c.CommandPath())
	})
	root.SetUsageTemplate(strings.NewReplacer(".FlagUsages ", fmt.Sprintf(".FlagUsagesWrapped %d ", ui.Columns), "for more information about", "for more about").Replace(root.UsageTemplate()))
	root.AddCommand(
		a.initCommand(), a.explainCommand(), a.doctorCommand(), a.providerCommand(), a.planCommand(), a.bootstrapCommand(), a.statusCommand(), a.whyCommand(), a.timelineCommand(), a.bundleCommand(),
		a.kubeconfigCommand(), a.talosconfigCommand(), a.destroyCommand(), a.forgetCommand(), a.tenantCommand(),
		a.addonsCommand(), a.imagesCommand(), a.planeCommand(), a.simCommand(), a.controllerCommand(), a.versionCommand(),
	)
	completing(root)
	addCompletion(root)
	return root
}
