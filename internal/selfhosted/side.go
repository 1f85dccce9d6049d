// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package selfhosted

import (
	"context"
	"os"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/deployed"
	"github.com/butlerdotdev/butler/internal/inventory"
	"github.com/butlerdotdev/butler/internal/pivot"
	"github.com/butlerdotdev/butler/internal/ui"
)

// localSide is the plane on the operator's side, with the controllers that this process
// runs.
type localSide struct {
	Mover
	cluster *v1alpha1.ClusterBootstrap
	// credentials is the plane that holds the credentials of the platform.
	credentials client.Reader
}

var _, _ pivot.Side = (*localSide)(nil), (*clusterSide)(nil)

func (m Mover) localSide(cb *v1alpha1.ClusterBootstrap, credentials client.Reader) *localSide {
	return &localSide{m, cb, credentials}
}

// Plane is the plane on the operator's side.
func (s *localSide) Plane() pivot.Plane {
	return pivot.Plane{Name: s.planeName(), Kind: v1alpha1.PlaneLocal, Client: s.Local}
}

// Quiesce ends the controllers of this process.
func (s *localSide) Quiesce(ctx context.Context) error { return s.StopControllers(ctx) }

// Resume starts the controllers of this process again.
func (s *localSide) Resume(context.Context) error { return s.ResumeControllers(s.provider) }

// RunningController returns nothing for controllers of this process: no other starts
// them.
func (s *localSide) RunningController(ctx context.Context) (string, error) {
	return s.Operation.RunningController(ctx, s.Local)
}

// CheckLogin connects to the platform as the controllers of this process will.
func (s *localSide) CheckLogin(ctx context.Context) error {
	site, err := inventory.ReadSite(ctx, s.Operation, s.provider, s.cluster, s.credentials)
	if err != nil {
		return err
	}
	_, end, err := site.Connect(ctx)
	if err == nil {
		end()
	}
	return err
}

// clusterSide is the cluster itself, with the controllers that are installed on it.
type clusterSide struct {
	plane    pivot.Plane
	provider v1alpha1.ProviderType
	login    *login
	progress *ui.Reporter
}

func (m Mover) clusterSide(cb *v1alpha1.ClusterBootstrap, c client.Client) *clusterSide {
	return &clusterSide{
		plane:    pivot.Plane{Name: "cluster " + m.Name, Kind: v1alpha1.PlaneSelf, Client: c},
		provider: cb.Spec.Provider, login: &login{client: c, key: cb.ProviderConfig()}, progress: m.Progress,
	}
}

// Plane is the cluster itself.
func (s *clusterSide) Plane() pivot.Plane { return s.plane }

// Quiesce ends the controllers of the cluster.
func (s *clusterSide) Quiesce(ctx context.Context) error {
	return deployed.Stop(ctx, s.plane.Client, s.progress.Waiting)
}

// Resume starts the controllers of the cluster again.
func (s *clusterSide) Resume(ctx context.Context) error {
	return deployed.Start(ctx, s.plane.Client)
}

// RunningController returns the name of a controller of the cluster that is not stopped.
func (s *clusterSide) RunningController(ctx context.Context) (string, error) {
	return deployed.FindRunning(ctx, s.plane.Client)
}

// CheckLogin starts the controllers of the cluster, and checks that they can log in to
// the platform.
func (s *clusterSide) CheckLogin(ctx context.Context) error {
	if err := deployed.Start(ctx, s.plane.Client); err != nil {
		return err
	}
	if err := deployed.CheckRunning(ctx, s.plane.Client, s.provider); err != nil {
		return err
	}
	return s.login.check(ctx)
}

// planeName returns the name of the operator's plane for readers on the cluster.
func (m Mover) planeName() string {
	if r := m.Plane(); r.OfUser() {
		return "plane " + r.String()
	}
	host, err := os.Hostname()
	if err != nil {
		return "another machine"
	}
	return "workstation " + host
}
