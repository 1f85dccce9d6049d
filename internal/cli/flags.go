// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/workspace"
	"github.com/butlerdotdev/butler/provider"
)

type bootstrapFlags struct {
	config      string
	credentials string
	rehearse    bool
	stateDir    string
	plane       string
	images      string
	nodeImage   string
	output      string
	timeout     time.Duration
	yes         bool
	charts      string
	// plan is the file with a plan that was reviewed.
	plan string
	// acceptExpiring lets the cluster take over credentials that expire.
	acceptExpiring bool
	simulator      simulatorFlags
	// simulatorFlag is the name of a given flag of the simulator; empty without one.
	simulatorFlag string
	// again is the command line that continues this bootstrap.
	again string
}

func (a App) bootstrapCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "bootstrap PROVIDER",
		Short: "Create a management cluster",
		// The flags are those of the provider's command, which was not found.
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return failure.Usagef("bootstrap takes a provider: %s", a.providerNames())
			}
			return a.noProvider(v1alpha1.ProviderType(args[0]))
		},
	}
	for _, p := range a.Providers {
		c.AddCommand(a.bootstrapProviderCommand(p))
	}
	return c
}

// noProvider returns the error for a provider that this build does not have.
func (a App) noProvider(t v1alpha1.ProviderType) error {
	return failure.Usagef("this build has no provider %s; it has: %s", t, a.providerNames())
}

// exampleProvider returns the provider of the examples in help texts.
func (a App) exampleProvider() string {
	if len(a.Providers) == 0 {
		return "PROVIDER"
	}
	return string(a.Providers[0].Type)
}

func (a App) providerNames() string {
	var names []string
	for _, p := range a.Providers {
		names = append(names, string(p.Type))
	}
	return strings.Join(names, ", ")
}

func (a App) bootstrapProviderCommand(p provider.Provider) *cobra.Command {
	var f bootstrapFlags
	c := &cobra.Command{
		Use:   string(p.Type) + " -c FILE [--rehearse]",
		Short: "Create a management cluster on " + string(p.Type),
		Long: `Create the management cluster that the ClusterBootstrap and the ProviderConfig
in FILE describe. All errors in FILE are reported at once. Then a preflight
checks that the platform can take the machines, and the plan is shown, as by
butleradm plan. Machines are created only after a confirmation. With --plan the
command refuses to continue if the plan differs from the saved one.

After an interruption the same command continues. Once the cluster is Ready, it
reports that and changes nothing.

With --rehearse it runs against a simulated platform and never reads
credentials. Without it the credentials come from the Secret in FILE or from the
file of --credentials. Ambient credentials are used only for a cluster without
its own controllers, because they are never copied to a cluster.

The objects of a new cluster are stored on an embedded plane. --plane selects
another one: a new KIND cluster, which needs Docker or Podman, or a cluster that
you already have. Later commands find the plane by its record.

Addons come from their own repositories, or from the source of --charts;
butleradm addons lists them. A rehearsal uses stand-ins: small charts with the
same names and versions.`,
		Example: fmt.Sprintf("  butleradm bootstrap %[1]s -c cluster.yaml --rehearse\n  butleradm bootstrap %[1]s -c cluster.yaml --credentials FILE", p.Type),
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.again, f.simulatorFlag = commandLine(cmd), f.simulator.given(cmd)
			return a.bootstrap(cmd.Context(), p, f)
		},
	}
	c.Flags().StringVarP(&f.config, "config", "c", "", "manifest `FILE` with ClusterBootstrap, ProviderConfig and optional Secrets")
	c.Flags().StringVar(&f.credentials, "credentials", "", credentialsUsage(p.Login))
	c.Flags().BoolVar(&f.rehearse, "rehearse", false, "run against a simulated platform")
	c.Flags().StringVar(&f.stateDir, "state-dir", "", "`DIR` of the cluster's state (default: below $BUTLER_HOME)")
	c.Flags().StringVar(&f.plane, "plane", "", "`PLANE` of a new cluster: embedded, kind, or the kubeconfig of a cluster (default: embedded)")
	c.Flags().StringVar(&f.nodeImage, "node-image", "", "`IMAGE` of the node of a new --plane kind (default: that of KIND's library)")
	c.Flags().StringVar(&f.images, "images", "", "`FILE` with the images of the controllers, for a new --plane kind (default: pulled from their registry)")
	c.Flags().StringVarP(&f.output, "output", "o", "plain", "plain: for people, on stderr; json: one event per line, on stdout")
	c.Flags().DurationVar(&f.timeout, "timeout", 30*time.Minute, "how long to wait for Ready; afterwards everything is left in place")
	c.Flags().BoolVar(&f.yes, "yes", false, "create real machines without confirmation; a rehearsal needs none")
	c.Flags().BoolVar(&f.acceptExpiring, "accept-expiring", false, "let a cluster that manages itself take over credentials that expire")
	registerCharts(c, &f.charts, "upstream; in a rehearsal stand-ins")
	c.Flags().StringVar(&f.plan, "plan", "", "`FILE` of butleradm plan --out; refuse if it no longer matches")
	f.simulator.register(c)
	return c
}

func credentialsUsage(l provider.Login) string {
	usage := "`PATH` of the platform's credentials: " + cmp.Or(l.Usage, "YAML with the keys of the Secret") + " (default: the Secret in FILE"
	if l.AmbientUsage != "" {
		usage += ", else " + l.AmbientUsage
	}
	return usage + ")"
}

// commandLine returns the command line that a command was called with.
func commandLine(cmd *cobra.Command) string {
	line := cmd.CommandPath()
	cmd.Flags().Visit(func(f *pflag.Flag) {
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand
		}
		line += " " + name
		if f.Value.Type() != "bool" {
			line += " " + workspace.Quoted(f.Value.String())
		} else if f.Value.String() != "true" {
			line += "=" + f.Value.String()
		}
	})
	return line
}

// check refuses flags that do not fit together.
func (f bootstrapFlags) check() error {
	switch {
	case f.config == "":
		return errNoManifest()
	case f.output != "plain" && f.output != "json":
		return failure.Usagef("--output must be plain or json, not %q", f.output)
	case f.timeout <= 0:
		return failure.Usagef("--timeout must be a positive duration, for example 30m, not %s", f.timeout)
	case f.rehearse && f.credentials != "":
		return failure.Usagef("a rehearsal reads no credentials; remove --credentials")
	case f.images != "" && f.plane != string(workspace.Kind):
		return failure.Usagef("--images is for --plane kind; other planes run the controllers in this command")
	case f.nodeImage != "" && f.plane != string(workspace.Kind):
		return failure.Usagef("--node-image is for --plane kind; other planes have no node of their own")
	case !f.rehearse && f.simulatorFlag != "":
		return failure.Usagef("--%s applies to a simulated platform only; add --rehearse, or remove it", f.simulatorFlag)
	}
	return checkCharts(f.charts)
}

// checkTerminal refuses to create real machines without a terminal for the confirmation.
func (f bootstrapFlags) checkTerminal() error {
	if f.rehearse || f.yes || term.IsTerminal(os.Stdin.Fd()) {
		return nil
	}
	return failure.Usagef("creating real machines requires a confirmation, and there is no terminal; pass --yes, or add --rehearse")
}

// load reads the manifest and applies the checks of this command.
func (f bootstrapFlags) load(more ...manifest.Check) (*manifest.Manifest, error) {
	m, err := manifest.Load(f.config, append([]manifest.Check{operation.Plannable, operation.Patchable}, more...)...)
	if err != nil {
		return nil, failure.New(failure.Usage, err)
	}
	return m, nil
}

// fits returns a check that refuses a manifest for another provider than p.
func (a App) fits(p provider.Provider) manifest.Check {
	return func(m *manifest.Manifest) []manifest.Problem {
		got := m.Cluster.Spec.Provider
		if got == p.Type || got == "" {
			return nil
		}
		text := fmt.Sprintf("is %s; run butleradm bootstrap %s", got, got)
		if _, err := a.provider(got); err != nil {
			text = fmt.Sprintf("is %s; %v", got, err)
		}
		return []manifest.Problem{m.At(m.Cluster, "spec.provider", text)}
	}
}

func registerChoice(c *workspace.Choice, cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.StateDir, "state-dir", "", "`DIR` of the cluster's state (default: below $BUTLER_HOME)")
	cmd.Flags().BoolVar(&c.Rehearse, "rehearse", false, "the rehearsed cluster of this name")
	cmd.Flags().BoolVar(&c.Real, "real", false, "the real cluster of this name")
}
