// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/butlerdotdev/butler/internal/talos"
)

// settleEndpoint decides where the new API server is reached, once.
func settleEndpoint(_ context.Context, s *Session) (*Obstacle, error) {
	if s.Status.ControlPlaneEndpoint == "" {
		s.Status.ControlPlaneEndpoint = s.Plan.Endpoint
	}
	if s.Status.ControlPlaneEndpoint == "" {
		s.Status.ControlPlaneEndpoint = s.controlPlanes()[0].IPAddress
	}
	return nil, nil
}

// configureNodes hands every machine its configuration, all side by side.
func configureNodes(ctx context.Context, s *Session) (*Obstacle, error) {
	client, err := talos.NewClient(s.talosconfig, s.Dial)
	if err != nil {
		return nil, err
	}
	obstacles := make([]*Obstacle, len(s.Plan.Machines))
	var group errgroup.Group
	for i, m := range s.Plan.Machines {
		if s.Status.Machines[i].TalosConfigured {
			continue
		}
		group.Go(func() (err error) {
			obstacles[i], err = s.configureNode(ctx, client, m, s.Status.Machines[i].IPAddress)
			s.Status.Machines[i].TalosConfigured = err == nil && obstacles[i] == nil
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return firstOf(obstacles), nil
}

// configureNode asks the node what it is instead of assuming it: the last push
// may have succeeded without us knowing.
func (s *Session) configureNode(ctx context.Context, client *talos.Client, m Machine, address string) (*Obstacle, error) {
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	wait := func(format string, args ...any) *Obstacle {
		return &Obstacle{Reason: "WaitingForTalos", Message: m.Name + " (" + address + ") " + fmt.Sprintf(format, args...), Poll: true}
	}
	state, err := client.State(ctx, address)
	switch state {
	case talos.StateConfigured:
		return nil, nil
	case talos.StateForeign:
		return wait("already belongs to another Talos cluster; reset it or remove the machine"), nil
	case talos.StateUnreachable:
		return wait("does not answer on the Talos API: %s", stable(err)), nil
	case talos.StateMaintenance:
	}
	config, err := s.Plan.config(s.secrets, s.Status.ControlPlaneEndpoint, m)
	if err != nil {
		return nil, &Failure{"InvalidTalosConfig", fmt.Sprintf("configuration of %s: %v", m.Name, err)}
	}
	if err := client.Apply(ctx, address, config); err != nil {
		return wait("did not take its configuration: %s", stable(err)), nil
	}
	return wait("has its configuration and restarts"), nil
}

// fetchKubeconfig takes the administrator's credentials from any control plane.
func fetchKubeconfig(ctx context.Context, s *Session) (*Obstacle, error) {
	client, err := talos.NewClient(s.talosconfig, s.Dial)
	if err != nil {
		return nil, err
	}
	var obstacle *Obstacle
	s.kubeconfig, err = s.keepSecret(ctx, SecretKubeconfig, func() (data []byte, err error) {
		err = s.fromAny(ctx, func(ctx context.Context, address string) (err error) {
			data, err = client.Kubeconfig(ctx, address)
			return err
		})
		if err != nil {
			obstacle = &Obstacle{Reason: "WaitingForKubeconfig", Message: "no kubeconfig yet: " + stable(err), Poll: true}
		}
		return data, err
	})
	if obstacle != nil {
		return obstacle, nil
	}
	if err != nil {
		return nil, err
	}
	s.Status.Kubeconfig = s.inline(s.kubeconfig)
	return nil, nil
}

func firstOf(obstacles []*Obstacle) *Obstacle {
	for _, o := range obstacles {
		if o != nil {
			return o
		}
	}
	return nil
}
