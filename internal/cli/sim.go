// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/workspace"
)

func (a App) simCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "sim",
		Short: "Run, list, check and stop simulated platforms",
		RunE:  needSubcommand,
	}
	for _, p := range a.Simulators {
		c.AddCommand(a.simRunCommand(p))
	}
	c.AddCommand(a.simListCommand(), a.simStopCommand(), a.simCheckCommand(), a.simFaultCommand())
	return c
}

// simulator returns the simulator of a provider.
func (a App) simulator(t v1alpha1.ProviderType) (facade.Platform, error) {
	for _, p := range a.Simulators {
		if p.Type == t {
			return p, nil
		}
	}
	return facade.Platform{}, failure.Usagef("this build cannot rehearse %s: it has no simulator of it", t)
}

func (a App) simRunCommand(p facade.Platform) *cobra.Command {
	var dir string
	var o simRunFlags
	c := &cobra.Command{
		Use:   string(p.Type) + " --state-dir DIR",
		Short: "Run a simulated " + string(p.Type) + " in the foreground",
		Long: `Run a simulated platform in the foreground until Ctrl-C. Its API answers as the
real one does; its machines boot an emulated Talos. They are reached through the
SOCKS5 proxy that is printed. The next start in the same directory restores the
state.

Machines get their addresses from 10.40.0.0/24, which holds 253 machines.
Further machines wait for an address. For more, set a larger network with
--subnet, such as 10.40.0.0/16.

The API is served on loopback. If pods on machines of --boot-command have to
reach it, set an address of this machine that they reach with --listen.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return failure.Usagef("--state-dir DIR is required")
			}
			setup, err := o.setup()
			if err != nil {
				return err
			}
			return a.runSim(cmd.Context(), p, dir, setup)
		},
	}
	c.Flags().StringVar(&dir, "state-dir", "", "`DIR` of the platform's state")
	o.register(c)
	return c
}

func (a App) runSim(ctx context.Context, p facade.Platform, dir string, setup sim.Setup) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := workspace.ClaimAlone(abs, workspace.IsSim); err != nil {
		return err
	}
	handler := slog.NewTextHandler(a.Err, &slog.HandlerOptions{Level: slog.LevelWarn})
	ctrllog.SetLogger(logr.FromSlogHandler(handler))
	klog.SetSlogLogger(slog.New(handler))
	return sim.Run(ctx, sim.Options{Dir: abs, Platform: p, Setup: setup, Log: slog.New(handler)}, func(i sim.Info) {
		for _, key := range slices.Sorted(maps.Keys(i.Credentials)) {
			fmt.Fprintf(a.Out, "%s: %s\n", key, filepath.Join(dir, filepath.Base(i.Credentials[key])))
		}
		fmt.Fprintf(a.Out, "admin: %s\nproxy: socks5://%s\n", filepath.Join(dir, filepath.Base(i.Admin)), i.Proxy)
	})
}

// simulatorFlags configure a simulated platform.
type simulatorFlags struct {
	profile, faults, bootCommand string
	routed                       bool
}

func (w *simulatorFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&w.profile, "profile", datacenter.Instant, "delays of the simulated platform: instant or realistic")
	c.Flags().StringVar(&w.faults, "faults", "", "`FILE` with the faults of the simulated platform")
	c.Flags().BoolVar(&w.routed, "routed", false, "private networks of the simulated platform have a route to this machine, as with a VPN")
	c.Flags().StringVar(&w.bootCommand, "boot-command", "", "`CMD` that runs each simulated machine, for example real Talos in QEMU")
}

// given returns the name of a flag that was set; empty without one.
func (simulatorFlags) given(c *cobra.Command) (name string) {
	for _, n := range []string{"profile", "faults", "routed", "boot-command"} {
		if c.Flags().Changed(n) {
			name = n
		}
	}
	return name
}

func (w simulatorFlags) setup(s sim.Seed) (sim.Setup, error) {
	if _, err := datacenter.ProfileNamed(w.profile); err != nil {
		return sim.Setup{}, failure.New(failure.Usage, err)
	}
	setup := sim.Setup{Seed: s, Profile: w.profile, Routed: w.routed, BootCommand: w.bootCommand}
	if w.faults == "" {
		return setup, nil
	}
	var err error
	if setup.Faults, err = fault.Load(w.faults); err != nil {
		return sim.Setup{}, failure.New(failure.Usage, err)
	}
	return setup, nil
}

func (a App) simListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the running simulated platforms of $BUTLER_HOME",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			all, err := workspace.Rehearsals()
			if err != nil {
				return err
			}
			out := tabwriter.NewWriter(a.Out, 0, 4, 2, ' ', 0)
			fmt.Fprintln(out, "CLUSTER\tPLATFORM\tPID\tSINCE\tADMIN")
			for _, w := range all {
				if i, h, ok := sim.Running(w.SimDir()); ok {
					fmt.Fprintf(out, "%s\t%s\t%d\t%s\t%s\n", w.Name, i.Provider, h.PID, h.Since.Format(time.DateTime), i.Admin)
				}
			}
			return out.Flush()
		},
	}
}

func (a App) simStopCommand() *cobra.Command {
	var c workspace.Choice
	cmd := &cobra.Command{
		Use:   "stop [CLUSTER]",
		Short: "Stop a simulated platform, or all of $BUTLER_HOME",
		Long: `Stop the simulated platform of a rehearsed cluster, or all of $BUTLER_HOME.
Their state stays on disk; the bootstrap command starts them again.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := c.FindRehearsals("stop", args)
			if err != nil {
				return err
			}
			var problems []error
			for _, w := range all {
				_, _, running := sim.Running(w.SimDir())
				problems = append(problems, sim.Stop(cmd.Context(), w.SimDir()))
				if running {
					fmt.Fprintln(a.Err, "stopped the simulated platform of", w.Name)
				}
			}
			return interrupted(cmd.Context(), errors.Join(problems...))
		},
	}
	cmd.Flags().StringVar(&c.StateDir, "state-dir", "", "`DIR` of the cluster's state (default: below $BUTLER_HOME)")
	return cmd
}
