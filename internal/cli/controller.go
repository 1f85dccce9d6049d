// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"io"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/charts"
	"github.com/butlerdotdev/butler/internal/addon/source"
	"github.com/butlerdotdev/butler/internal/controller/butlercontroller"
	"github.com/butlerdotdev/butler/internal/controller/clusterbootstrap"
	"github.com/butlerdotdev/butler/internal/controller/program"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/sim/clusterapi"
	"github.com/butlerdotdev/butler/internal/sim/network"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/serve"
)

// environment holds the settings of the network that a controller runs in.
type environment struct {
	// network is the address of a simulated network; empty means the real one.
	network string
	// ca is a file with an authority for the servers of that network.
	ca string
}

// controllerCommand returns the command that a simulated cluster runs the pods of this
// project with.
func (a App) controllerCommand() *cobra.Command {
	var s environment
	c := &cobra.Command{
		Use:    "controller NAME [ARGS]",
		Short:  "Run a controller of this project until the input ends",
		Hidden: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return failure.Usagef("the name of a controller is required")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.runController(cmd.Context(), s, args[0], args[1:])
		},
	}
	// What follows the name is the controller's own.
	c.Flags().SetInterspersed(false)
	c.Flags().StringVar(&s.network, "network", "", "`ADDRESS` of a simulated network that all connections but those to Kubernetes go through")
	c.Flags().StringVar(&s.ca, "ca", "", "`FILE` with the authority of that network's servers")
	return c
}

func (a App) runController(ctx context.Context, s environment, name string, args []string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		// The parent process holds the other end.
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	if known, err := a.runClusterAPI(ctx, s, name, args); known {
		return err
	}
	all, err := a.controllers(s)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(p program.Program) bool { return p.Name == name })
	if i < 0 {
		var names []string
		for _, p := range all {
			names = append(names, p.Name)
		}
		return failure.Usagef("unknown controller %q; known are %s", name, strings.Join(names, ", "))
	}
	return all[i].Run(ctx, args, program.Streams{Out: a.Out, Err: a.Err})
}

// runClusterAPI runs a program of Cluster API that a rehearsal has, if the name is one.
func (a App) runClusterAPI(ctx context.Context, s environment, name string, args []string) (known bool, err error) {
	e := clusterapi.Environment{Network: s.network, Out: a.Err}
	switch {
	case name == clusterapi.Core:
		return true, clusterapi.RunCore(ctx, args, e)
	case name == clusterapi.InClusterIPAM:
		return true, clusterapi.RunIPAM(ctx, args, e)
	case strings.HasPrefix(name, clusterapi.Infrastructure):
		transport, err := s.transport()
		if err != nil {
			return true, err
		}
		return true, clusterapi.RunInfrastructure(ctx, name, args, e, clusterapi.Platforms{Providers: a.Providers, Transport: transport})
	}
	return false, nil
}

// transport reaches the platforms of the network that a controller runs in.
func (s environment) transport() (t provider.Transport, err error) {
	t.DialContext = (&net.Dialer{}).DialContext
	if s.network == "" {
		return t, nil
	}
	t.DialContext = network.Dialer(s.network)
	if s.ca != "" {
		t.RootCAs, err = sim.RootCAs(s.ca)
	}
	return t, err
}

// resolver looks names up in the network that a controller runs in.
func (s environment) resolver() *net.Resolver {
	if s.network == "" {
		return net.DefaultResolver
	}
	return network.Resolver(s.network)
}

// controllers returns the controllers of this project that this executable has.
func (a App) controllers(s environment) ([]program.Program, error) {
	transport, err := s.transport()
	if err != nil {
		return nil, err
	}
	addons := source.Options{Carried: charts.FS}
	if s.network != "" {
		if addons.HTTP, err = operation.NewSimulatedHTTP(transport.DialContext, s.ca); err != nil {
			return nil, err
		}
		addons.StandIns = true
	}
	out := []program.Program{
		clusterbootstrap.Program(transport.DialContext, addons),
		butlercontroller.Program(transport.DialContext, s.resolver(), addons),
	}
	for _, p := range a.Providers {
		out = append(out, serve.ProgramWith(p, serve.Options{Transport: transport, NoAmbient: s.network != "", Clock: a.Hooks.Clock}))
	}
	return out, nil
}
