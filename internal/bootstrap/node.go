// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"cmp"
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/talos"
)

// configureNodes hands every machine its configuration, all side by side. Only
// control planes are waited for: a worker that took its configuration is silent
// until the endpoint answers, and after a crash it is not known whether it did.
func configureNodes(ctx context.Context, s *Session) (*Obstacle, error) {
	obstacles, err := s.configure(ctx, func(m v1alpha1.BootstrapMachineStatus) bool { return !m.TalosConfigured })
	if err != nil {
		return nil, err
	}
	return step.Joined(obstacles[:len(s.controlPlanes())]), nil
}

// finishNodes sees that every machine has its configuration, also those that
// have lost it since: all can answer now.
func finishNodes(ctx context.Context, s *Session) (*Obstacle, error) {
	obstacles, err := s.configure(ctx, func(m v1alpha1.BootstrapMachineStatus) bool { return !m.Ready })
	return step.Joined(obstacles), err
}

// configure asks the machines that which selects, and configures those that
// have no configuration.
func (s *Session) configure(ctx context.Context, which func(v1alpha1.BootstrapMachineStatus) bool) ([]*Obstacle, error) {
	client, err := s.talos()
	if err != nil {
		return nil, err
	}
	nodes := s.inspect(ctx, client, which)
	if err := s.checkVersions(nodes); err != nil {
		return nil, err
	}
	obstacles := make([]*Obstacle, len(s.Plan.Machines))
	var group errgroup.Group
	for i, n := range nodes {
		if n == nil {
			continue
		}
		group.Go(func() (err error) {
			obstacles[i], err = s.configureNode(ctx, client, i, n)
			return err
		})
	}
	return obstacles, group.Wait()
}

// configureNode asks the node what it is instead of assuming it: the last push
// may have succeeded without us knowing. One that is known to be configured may
// be silent for a while.
func (s *Session) configureNode(ctx context.Context, client *talos.Client, i int, n *inspected) (*Obstacle, error) {
	status := &s.Status.Machines[i]
	switch n.State {
	case talos.StateConfigured:
		if o, err := s.checkBooted(ctx, client, i); o != nil || err != nil {
			return o, err
		}
		status.TalosConfigured = true
		return nil, nil
	case talos.StateForeign:
		return talosObstacle(status, true, "already belongs to another Talos cluster; reset it or remove the machine"), nil
	case talos.StateUnreachable:
		if status.TalosConfigured {
			return nil, nil
		}
		return talosObstacle(status, false, "does not answer on the Talos API"+s.unreachable(i)+step.Because(n.err)), nil
	case talos.StateMaintenance:
	}
	switch {
	case s.Status.Phase == v1alpha1.BootstrapReady && status.TalosConfigured && s.replaced() != status.Name:
		return talosObstacle(status, true, "has lost its disk; "+cmp.Or(s.howToReplace(s.Plan.Machines[i]), "it is not taken back: destroy the cluster and create it again")), nil
	case status.TalosConfigured && s.sinceChange() < bootPatience:
		return nil, nil // it is about to restart; a second push would hold it up
	}
	if err := s.checkExtensions(status.Name, n.Image); err != nil {
		return nil, err
	}
	s.warnOfImage(i, n.Report)
	return s.push(ctx, client, i)
}

// push hands a machine in maintenance mode its configuration.
func (s *Session) push(ctx context.Context, client *talos.Client, i int) (*Obstacle, error) {
	status := &s.Status.Machines[i]
	m := s.Plan.Machines[i]
	config, err := s.config(m, s.startsWithLoopback(m), s.known(i))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if err := client.Apply(ctx, status.IPAddress, config); err != nil {
		return talosObstacle(status, false, "did not accept its configuration: "+step.Stable(err)), nil
	}
	status.TalosConfigured = true
	return nil, nil
}

// known is what the platform reports of a machine.
func (s *Session) known(i int) v1alpha1.MachineRequestStatus {
	if r := s.machines.requests[i]; r != nil {
		return r.Status
	}
	return v1alpha1.MachineRequestStatus{}
}

func talosObstacle(m *v1alpha1.BootstrapMachineStatus, urgent bool, message string) *Obstacle {
	return &Obstacle{Reason: "WaitingForTalos", Message: fmt.Sprintf("%s (%s) %s", m.Name, m.IPAddress, message), Poll: true, Urgent: urgent}
}

func probe(ctx context.Context, client *talos.Client, address string) (talos.State, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return client.State(ctx, address)
}

// fetchKubeconfig takes the administrator's credentials from any control plane.
func fetchKubeconfig(ctx context.Context, s *Session) (*Obstacle, error) {
	if s.kubernetes.expired != "" {
		return &Obstacle{Reason: "WaitingForKubeconfig", Message: s.kubernetes.expired, Poll: true}, nil
	}
	client, err := s.talos()
	if err != nil {
		return nil, err
	}
	var obstacle *Obstacle
	s.kubernetes.kubeconfig, err = s.keepSecret(ctx, SecretKubeconfig, func() ([]byte, error) {
		data, err := fromAny(ctx, s, client.Kubeconfig)
		if err != nil {
			obstacle = &Obstacle{Reason: "WaitingForKubeconfig", Message: "no kubeconfig yet: " + step.Stable(err), Poll: true}
		}
		return data, err
	})
	if obstacle != nil {
		return obstacle, nil
	}
	if err != nil {
		return nil, err
	}
	s.Status.Kubeconfig = s.inline(s.kubernetes.kubeconfig)
	s.showCredentials()
	return nil, nil
}
