// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/talos"
)

// NodeView is what the Talos API of a machine answers.
type NodeView struct {
	Name, Address string
	State         talos.State
	// Error is why the API does not answer as expected.
	Error string
	// Services are those that the node does not work without and that are not up.
	Services []talos.Service
	// Has are the IDs of all services that the node does not work without.
	Has []string
}

// NodeLog is the end of the log of a service of a node, or why it could not be read.
type NodeLog struct {
	Node, Service string
	Text          []byte
	Err           error
}

// logLines is how many lines of a log are read.
const logLines = 500

// Logs reads the logs of the essential services of the nodes. ViewNodes comes before.
func (s *Session) Logs(ctx context.Context, views []NodeView) (out []NodeLog) {
	for _, v := range views {
		for _, id := range v.Has {
			ctx, cancel := context.WithTimeout(ctx, probeTimeout)
			text, err := s.access.client.Logs(ctx, v.Address, id, logLines)
			cancel()
			out = append(out, NodeLog{v.Name, id, text, err})
		}
	}
	return out
}

// ViewNodes queries the Talos API of all machines that have an address, and changes nothing.
// Requests are those of the machines, by name.
func (s *Session) ViewNodes(ctx context.Context, config *v1alpha1.ProviderConfig, requests map[string]*v1alpha1.MachineRequest) ([]NodeView, error) {
	s.provider = config
	for _, m := range s.Status.Machines {
		s.machines.requests = append(s.machines.requests, requests[m.Name])
	}
	var err error
	if s.access.talosconfig, err = s.readSecret(ctx, SecretTalosconfig); err != nil {
		return nil, err
	}
	client, err := s.talos()
	if err != nil {
		return nil, err
	}
	out := make([]NodeView, len(s.Status.Machines))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, m := range s.Status.Machines {
		out[i] = NodeView{Name: m.Name, Address: m.IPAddress}
		if m.IPAddress != "" {
			group.Go(func() error { out[i].ask(ctx, client); return nil })
		}
	}
	return out, group.Wait()
}

func (v *NodeView) ask(ctx context.Context, client *talos.Client) {
	var err error
	if v.State, err = probe(ctx, client, v.Address); err != nil {
		v.Error = step.Stable(err)
		return
	}
	if v.State != talos.StateConfigured {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	all, err := client.Services(ctx, v.Address)
	if err != nil {
		v.State, v.Error = talos.StateUnreachable, step.Stable(err)
	}
	for _, service := range slices.DeleteFunc(all, func(s talos.Service) bool { return !isEssential(s) }) {
		v.Has = append(v.Has, service.ID)
		if !service.Up() {
			v.Services = append(v.Services, service)
		}
	}
}
