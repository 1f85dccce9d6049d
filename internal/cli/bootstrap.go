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
	fresh := !exists(w.plane())
	if fresh {
		err = w.link()
	}
	if err != nil {
		return err
	}
	timed, cancel := context.WithTimeoutCause(ctx, f.timeout, errTimeout)
	defer cancel()
	t := newTeller(a, f.output)
	err = interrupted(timed, a.bootstrapIn(timed, w, p, m, t, fresh))
	switch {
	case err == nil || errors.Is(err, lock.ErrHeld):
	case isUsage(err) && fresh:
		err = errors.Join(err, w.discard(ctx))
	case !isUsage(err):
		t.hint(w)
	}
	return err
}

func isUsage(err error) bool {
	e, ok := errors.AsType[*exit](err)
	return ok && e.code == exitUsage
}

func (a App) bootstrapIn(ctx context.Context, w workspace, p provider.Provider, m *manifest.Manifest, t *teller, fresh bool) (err error) {
	simulated := w.simulateAhead(ctx, p, m, fresh)
	o, err := w.open(ctx, "butleradm bootstrap "+w.name)
	if err != nil {
		return errors.Join(err, simulated.Wait())
	}
	defer func() { err = errors.Join(err, o.close()) }()
	t.step("local plane: " + o.plane.KubeconfigPath())
	if err := errors.Join(o.try(o.ctx, m), simulated.Wait()); err != nil {
		return err
	}
	if err := w.link(); err != nil {
		return err
	}
	seed := sim.SeedFor(m.Cluster, m.Provider)
	if o.platform, err = w.simulate(ctx, p, &seed); err != nil {
		return err
	}
	t.step(fmt.Sprintf("simulated %s: %s", p.Type, o.platform.Admin))
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

// simulateAhead starts the platform of a new rehearsal beside the plane. One
// that may run already is left alone until the plane is ours and the manifest
// has been tried.
func (w workspace) simulateAhead(ctx context.Context, p provider.Provider, m *manifest.Manifest, fresh bool) *errgroup.Group {
	var group errgroup.Group
	if fresh {
		group.Go(func() error {
			seed := sim.SeedFor(m.Cluster, m.Provider)
			_, err := w.simulate(ctx, p, &seed)
			return err
		})
	}
	return &group
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
		return t.lastly(err)
	}
	if meta.IsStatusConditionTrue(cb.Status.Conditions, v1alpha1.ConditionFailed) {
		return fmt.Errorf("bootstrap of %s failed: %s: %s", o.name, cb.Status.FailureReason, cb.Status.FailureMessage)
	}
	return nil
}

// settled is a bootstrap that is Ready or has failed, as its spec now stands.
func settled(cb *v1alpha1.ClusterBootstrap) bool {
	if cb.Status.ObservedGeneration != cb.Generation {
		return false
	}
	return cb.Status.Phase == v1alpha1.BootstrapFailed && meta.IsStatusConditionTrue(cb.Status.Conditions, v1alpha1.ConditionFailed) ||
		cb.Status.Phase == v1alpha1.BootstrapReady && meta.IsStatusConditionTrue(cb.Status.Conditions, v1alpha1.ConditionReady)
}
