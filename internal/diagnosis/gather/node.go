// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/diagnosis"
	"github.com/butlerdotdev/butler/internal/talos"
	"github.com/butlerdotdev/butler/internal/workspace"
)

// nodes asks the Talos API of the machines. Before there are credentials for it, nothing
// waits for it.
func (g *gatherer) nodes(ctx context.Context) {
	if g.facts.Plane.SimulatorStopped {
		return
	}
	if dial, err := g.NewDialer(); err == nil {
		g.askNodes(ctx, dial)
	}
}

func (g *gatherer) askNodes(ctx context.Context, dial workspace.Dialer) {
	g.facts.Contested = bootstrap.Contested(ctx, g.cluster, talos.Dialer(dial))
	s := &bootstrap.Session{ClusterBootstrap: g.cluster, Client: g.plane, Live: g.plane, Dial: dial, Clock: time.Now}
	if g.config == nil {
		return
	}
	views, err := s.ViewNodes(ctx, g.config, g.machineRequests(ctx))
	if err != nil {
		return
	}
	for _, v := range views {
		n := diagnosis.Node{Name: v.Name, Address: v.Address, Talos: string(v.State), Error: v.Error, Silent: v.State == talos.StateUnreachable, Foreign: v.State == talos.StateForeign}
		for _, service := range v.Services {
			n.Services = append(n.Services, diagnosis.Service{ID: service.ID, State: service.State, Message: service.Message})
		}
		g.facts.Nodes = append(g.facts.Nodes, n)
	}
}

// machineRequests are those of the cluster by name: they know public addresses.
func (g *gatherer) machineRequests(ctx context.Context) map[string]*v1alpha1.MachineRequest {
	var list v1alpha1.MachineRequestList
	out := map[string]*v1alpha1.MachineRequest{}
	if err := g.plane.List(ctx, &list, client.InNamespace(g.cluster.Namespace)); err != nil {
		return out
	}
	for i := range list.Items {
		out[list.Items[i].Name] = &list.Items[i]
	}
	return out
}
