// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/charts"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/addon/install"
	"github.com/butlerdotdev/butler/internal/addon/source"
	"github.com/butlerdotdev/butler/internal/deployed"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/release"
	"github.com/butlerdotdev/butler/internal/version"
	"github.com/butlerdotdev/butler/internal/workspace"
)

// stopPatience is how long deployed controllers have to end with the command.
const stopPatience = 45 * time.Second

// Deploys reports whether the controllers run as Deployments on the plane: on a KIND
// cluster, which is butleradm's own. Its pods cannot reach the simulated network.
func (o *Operation) Deploys() bool {
	return o.Plane().Kind == workspace.Kind && (!o.Rehearsal || o.Hooks.PodsReachSimulator)
}

// CheckDeploy refuses a manifest whose controllers could not work as pods.
func (o *Operation) CheckDeploy(m *manifest.Manifest) error {
	if !o.Deploys() {
		return nil
	}
	if _, referred := m.CredentialsKey(); !referred {
		return failure.Usagef("ProviderConfig %s has no spec.credentialsRef, and the controllers run on %s, where there are no ambient credentials; pass a file with --credentials", m.Provider.Name, o.Plane())
	}
	if c := o.Charts; c != "" && c != "upstream" && !strings.HasPrefix(c, "oci://") {
		return failure.Usagef("--charts %s is a directory of this machine, and the controllers run on %s; use a registry, or the embedded plane", c, o.Plane())
	}
	return nil
}

// Deploy installs the controllers of the cluster on the plane, or updates them, and
// returns when their pods are ready. On a plane without Deployments it does nothing.
func (o *Operation) Deploy() error {
	if !o.Deploys() {
		return nil
	}
	if err := o.loadImages(); err != nil {
		return err
	}
	all, err := o.planeControllers()
	if err != nil {
		return err
	}
	if err := deployed.Start(o.ctx, o.Local); err != nil {
		return err
	}
	carried, err := source.New(source.Options{Carried: charts.FS})
	if err != nil {
		return err
	}
	changed := make(chan struct{}, 1)
	installer := install.New(install.Options{Source: carried, Log: slog.Default(), Wake: func(string) {
		select {
		case changed <- struct{}{}:
		default:
		}
	}})
	defer installer.Close()
	o.deployed = true
	for {
		obstacle := obstacleOf(installer.Advance(install.Target{ID: o.Name, Config: o.plane.Config()}, all))
		if obstacle == "" {
			return nil
		}
		o.report(obstacle)
		select {
		case <-o.ctx.Done():
			return fmt.Errorf("%w; the controllers are not ready: %s", o.Ended(), obstacle)
		case <-changed:
		case <-time.After(RetryInterval):
		}
	}
}

// obstacleOf is what the first controller waits for that is not ready.
func obstacleOf(states []install.State) string {
	for _, s := range states {
		if s.Phase != v1alpha1.AddonReady {
			return strings.TrimSuffix("waiting for "+s.Key+" on the plane: "+s.Message, ": ")
		}
	}
	return ""
}

// planeControllers are the controllers for the cluster on the plane.
func (o *Operation) planeControllers() ([]addon.Addon, error) {
	cb, err := o.FindCluster(o.ctx, o.Local)
	if err != nil {
		return nil, err
	}
	if cb == nil {
		return nil, o.AbsentError()
	}
	config := &v1alpha1.ProviderConfig{}
	if err := o.Local.Get(o.ctx, cb.ProviderConfig(), config); err != nil {
		return nil, err
	}
	facts := addon.Facts{Version: version.Version, Platform: config.Spec, Namespace: cb.Namespace, ProviderNamespace: config.Namespace}
	if strings.HasPrefix(o.Charts, "oci://") {
		facts.Registry = o.Charts
	}
	if !o.Plane().Loaded { // a loaded image has a name, and no digest of a registry
		if facts.Digests, err = release.Digests(); err != nil {
			return nil, err
		}
	}
	return addon.Controllers(cb.Spec, facts), nil
}

// startDeployed starts the controllers on the plane, and returns when their pods are
// ready.
func (o *Operation) startDeployed(p v1alpha1.ProviderType) error {
	if err := deployed.Start(o.ctx, o.Local); err != nil {
		return err
	}
	o.deployed = true
	if missing, err := deployed.Missing(o.ctx, o.Local, p); err != nil || missing {
		return errors.Join(err, o.Deploy())
	}
	for {
		err := deployed.CheckRunning(o.ctx, o.Local, p)
		if err == nil {
			return nil
		}
		o.report(err.Error())
		if o.Wait(RetryInterval) != nil {
			return fmt.Errorf("%w; %w", o.Ended(), err)
		}
	}
}

// stopDeployed ends the controllers on the plane, also those that an earlier command has
// left running.
func (o *Operation) stopDeployed(ctx context.Context) error {
	if err := deployed.Stop(ctx, o.Local, o.report); err != nil {
		return fmt.Errorf("stop the controllers on %s: %w", o.Plane(), err)
	}
	o.deployed = false
	return nil
}

// closeDeployed ends the controllers on the plane with the command, as those of an
// embedded plane end.
func (o *Operation) closeDeployed() error {
	if !o.deployed {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(o.ctx), stopPatience)
	defer cancel()
	return o.stopDeployed(ctx)
}

func (o *Operation) report(obstacle string) {
	if o.Report != nil {
		o.Report(obstacle)
	}
}

// RunningController returns the name of a controller on the plane that is not stopped;
// empty if there is none, or if they run in this process.
func (o *Operation) RunningController(ctx context.Context, c client.Client) (string, error) {
	if !o.Deploys() {
		return "", nil
	}
	return deployed.FindRunning(ctx, c)
}
