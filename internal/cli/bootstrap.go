// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/lock"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/provider"
)

type bootstrapFlags struct {
	config   string
	rehearse bool
	stateDir string
	output   string
	timeout  time.Duration
	yes      bool
}

func (a App) bootstrapCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "bootstrap PROVIDER",
		Short: "Make a management cluster",
		// The flags are those of the provider's command, which was not found.
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		RunE: func(_ *cobra.Command, args []string) error {
			return usage("bootstrap takes a provider (%s), got %q", a.providerNames(), args)
		},
	}
	for _, p := range a.Providers {
		c.AddCommand(a.bootstrapProviderCommand(p))
	}
	return c
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
		Use:   string(p.Type) + " -c FILE --rehearse",
		Short: "Make a management cluster on " + string(p.Type),
		Long: `Make a management cluster of the ClusterBootstrap and the ProviderConfig in
FILE. The same command after an interruption goes on where it was.

A rehearsal runs against a simulated platform and never reads credentials. This
version installs no addons, so it makes no real clusters yet: --rehearse is needed.`,
		Example: "  butleradm bootstrap harvester -c cluster.yaml --rehearse",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.bootstrap(cmd.Context(), p, f)
		},
	}
	c.Flags().StringVarP(&f.config, "config", "c", "", "manifest with ClusterBootstrap, ProviderConfig and possibly a Secret")
	c.Flags().BoolVar(&f.rehearse, "rehearse", false, "run against a simulated platform")
	c.Flags().StringVar(&f.stateDir, "state-dir", "", "directory of the cluster's state (default: below $BUTLER_HOME)")
	c.Flags().StringVar(&f.output, "output", "plain", "plain: lines for people on stderr; json: events on stdout")
	c.Flags().DurationVar(&f.timeout, "timeout", 30*time.Minute, "how long to wait for Ready; everything stays in place after it")
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask before real machines are made; a rehearsal never asks")
	return c
}

func (f bootstrapFlags) load(p provider.Provider) (*manifest.Manifest, error) {
	switch {
	case f.config == "":
		return nil, usage("which manifest? name it with -c FILE")
	case !f.rehearse:
		return nil, usage("this version makes no real clusters yet; add --rehearse to run against a simulated %s", p.Type)
	case f.output != "plain" && f.output != "json":
		return nil, usage("--output is plain or json, not %q", f.output)
	}
	m, err := manifest.Load(f.config)
	if err != nil {
		return nil, &exit{exitUsage, err}
	}
	if got := m.Cluster.Spec.Provider; got != p.Type {
		return nil, usage("%s is for provider %s; run butleradm bootstrap %s", f.config, got, got)
	}
	if _, err := bootstrap.NewPlan(m.Cluster.Spec); err != nil {
		return nil, &exit{exitUsage, fmt.Errorf("%s: %w", f.config, err)}
	}
	return m, nil
}

func (a App) bootstrap(ctx context.Context, p provider.Provider, f bootstrapFlags) error {
	m, err := f.load(p)
	if err != nil {
		return err
	}
	w, err := create(m.Cluster.Spec.Cluster.Name, f.stateDir, f.rehearse)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, f.timeout, errTimeout)
	defer cancel()
	t := newTeller(a, f.output)
	err = interrupted(ctx, a.bootstrapIn(ctx, w, p, m, t))
	if begun(err) {
		t.hint(w)
	}
	return err
}

// begun reports whether a bootstrap has ended in a way that leaves something to
// go on with: not if the manifest was refused, or if somebody else is at work.
func begun(err error) bool {
	e, ok := errors.AsType[*exit](err)
	return err != nil && !errors.Is(err, lock.ErrHeld) && (!ok || e.code != exitUsage)
}

func (a App) bootstrapIn(ctx context.Context, w workspace, p provider.Provider, m *manifest.Manifest, t *teller) (err error) {
	o, err := w.prepare(ctx, p, m, t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.close()) }()
	if err := o.apply(o.ctx, m); err != nil {
		return err
	}
	if err := o.start(p); err != nil {
		return err
	}
	if err := o.follow(m, t); err != nil {
		return err
	}
	t.finish(w)
	return nil
}

// prepare starts the plane and the platform of a rehearsal side by side.
func (w workspace) prepare(ctx context.Context, p provider.Provider, m *manifest.Manifest, t *teller) (o *operation, err error) {
	var platform sim.Info
	var simulating errgroup.Group
	simulating.Go(func() (err error) {
		platform, err = w.simulate(ctx, p, sim.SeedFor(m.Cluster, m.Provider))
		return err
	})
	o, err = w.open(ctx, "butleradm bootstrap "+w.name)
	if err == nil {
		t.step("local plane: " + o.plane.KubeconfigPath())
	}
	if err := errors.Join(err, simulating.Wait()); err != nil {
		if o != nil {
			err = errors.Join(err, o.close())
		}
		return nil, err
	}
	t.step(fmt.Sprintf("simulated %s: %s", p.Type, platform.Admin))
	o.platform = platform
	return o, nil
}

// follow tells how the bootstrap goes until it is Ready or has failed.
func (o *operation) follow(m *manifest.Manifest, t *teller) error {
	cb := &v1alpha1.ClusterBootstrap{}
	err := o.watch(client.ObjectKeyFromObject(m.Cluster), &v1alpha1.ClusterBootstrapList{}, func(object client.Object) bool {
		cb = object.(*v1alpha1.ClusterBootstrap)
		t.show(cb)
		return object.GetDeletionTimestamp() == nil && settled(cb)
	})
	if err != nil {
		return err
	}
	if cb.Status.Phase == v1alpha1.BootstrapFailed {
		return fmt.Errorf("bootstrap of %s failed: %s: %s", o.name, cb.Status.FailureReason, cb.Status.FailureMessage)
	}
	return nil
}

// settled is a bootstrap that is Ready or has failed, as its spec now stands.
func settled(cb *v1alpha1.ClusterBootstrap) bool {
	if cb.Status.ObservedGeneration != cb.Generation {
		return false
	}
	return cb.Status.Phase == v1alpha1.BootstrapFailed ||
		cb.Status.Phase == v1alpha1.BootstrapReady && meta.IsStatusConditionTrue(cb.Status.Conditions, v1alpha1.ConditionReady)
}
