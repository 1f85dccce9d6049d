// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/talos"
)

// essential are the services of Talos that a node does not work without. Others,
// of extensions, may wait for something on purpose.
var essential = []string{"apid", "containerd", "cri", "etcd", "kubelet", "machined", "trustd"}

// awaitHealth sees that etcd has all its members, that the load balancer has all its
// targets and that the nodes' services run: a node that is Ready may still be alone with
// its data.
func awaitHealth(ctx context.Context, s *Session) (*Obstacle, error) {
	client, err := s.talos()
	if err != nil {
		return nil, err
	}
	if o := s.missingMembers(ctx, client); o != nil {
		return o, nil
	}
	if s.endpoint.waiting != nil {
		return s.endpoint.waiting, nil
	}
	return s.ailingServices(ctx, client), nil
}

func (s *Session) missingMembers(ctx context.Context, client *talos.Client) *Obstacle {
	wait := func(message string) *Obstacle {
		return &Obstacle{Reason: "WaitingForMembers", Message: message, Poll: true}
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	members, err := fromAny(ctx, s, client.Members)
	if err != nil {
		return wait("etcd does not answer" + step.Because(err))
	}
	var missing []string
	for _, m := range s.controlPlanes() {
		if cause := notVoting(members, m.Name); cause != "" {
			missing = append(missing, cause)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return wait(step.Listed(missing))
}

func notVoting(members []talos.Member, name string) string {
	for _, m := range members {
		switch {
		case m.Hostname == name && m.Learner:
			return name + " has joined etcd, but is not a voting member yet"
		case m.Hostname == name:
			return ""
		}
	}
	return name + " has not joined etcd"
}

// ailingServices asks each node for itself. So that many nodes do not take each
// other's time, few are asked at once, and each has its own.
func (s *Session) ailingServices(ctx context.Context, client *talos.Client) *Obstacle {
	obstacles := make([]*Obstacle, len(s.Status.Machines))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, m := range s.Status.Machines {
		group.Go(func() error {
			if cause := ailing(ctx, client, m); cause != "" {
				obstacles[i] = &Obstacle{Reason: "WaitingForServices", Message: m.Name + " " + cause, Poll: true}
			}
			return nil
		})
	}
	_ = group.Wait()
	return step.Joined(obstacles)
}

func ailing(ctx context.Context, client *talos.Client, m v1alpha1.BootstrapMachineStatus) string {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	services, err := client.Services(ctx, m.IPAddress)
	if err != nil {
		return "does not answer on the Talos API" + step.Because(err)
	}
	return unwell(services)
}

func isEssential(service talos.Service) bool { return slices.Contains(essential, service.ID) }

func unwell(services []talos.Service) string {
	for _, service := range services {
		if isEssential(service) && !service.Up() {
			return fmt.Sprintf("has service %s %s: %s", service.ID, service.State, service.Message)
		}
	}
	return ""
}
