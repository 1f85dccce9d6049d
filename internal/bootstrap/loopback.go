// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/talos"
)

// config is the configuration of a machine for the endpoint that is settled by now.
func (s *Session) config(m Machine, loopback bool, known v1alpha1.MachineRequestStatus) ([]byte, error) {
	if s.registries.unknown != nil {
		return nil, s.registries.unknown
	}
	config, err := s.Plan.config(s.access.secrets, m, settled{
		s.Status.ControlPlaneEndpoint, s.endpoint.loadBalancer, loopback, known, s.networkOf(m), s.timeServers(), s.registries.all,
	})
	if err != nil {
		return nil, &Failure{Reason: "InvalidTalosConfig", Message: err.Error()}
	}
	return config, nil
}

// passesThrough reports whether packets that the load balancer passes on keep its address:
// those of the platforms whose load balancers have an address do. Control planes then need
// this address on their loopback interface.
func (s *Session) passesThrough() bool {
	_, err := netip.ParseAddr(s.endpoint.loadBalancer)
	return err == nil
}

// startsWithLoopback reports whether a machine has the address of the load balancer from the
// beginning. At that address it reaches only itself, so that it could not join others: it
// is the control plane that etcd begins on.
func (s *Session) startsWithLoopback(m Machine) bool {
	return s.passesThrough() && m.Name == s.Plan.Machines[0].Name && s.Status.Phase != v1alpha1.BootstrapReady
}

// takesPackets reports whether a control plane takes what the load balancer passes on. A
// target of the load balancer is one that does. What the status says outlasts targets that
// were removed: without any, nodes could not be reached to ask them.
func (s *Session) takesPackets(m v1alpha1.BootstrapMachineStatus, t v1alpha1.LoadBalancerTarget) bool {
	return !s.passesThrough() || s.startsWithLoopback(Machine{Name: m.Name}) ||
		m.LoopbackConfigured || slices.Contains(s.endpoint.request.Spec.Targets, t)
}

// addLoopback gives control planes the address of the load balancer and makes them its
// targets, once they have joined and their own API server is ready. It waits for none of
// them: awaitHealth does.
func addLoopback(ctx context.Context, s *Session) (*Obstacle, error) {
	if !s.passesThrough() || s.endpoint.request == nil {
		return nil, nil
	}
	client, err := s.talos()
	if err != nil {
		return nil, err
	}
	obstacles := make([]*Obstacle, len(s.controlPlanes()))
	for i, m := range s.controlPlanes() {
		if m.LoopbackConfigured || s.isTarget(m) {
			s.Status.Machines[i].LoopbackConfigured = true
			continue
		}
		if obstacles[i], err = s.addLoopbackTo(ctx, client, i); err != nil {
			return nil, err
		}
	}
	s.endpoint.waiting = step.Joined(obstacles)
	return registerTargets(ctx, s)
}

func (s *Session) isTarget(m v1alpha1.BootstrapMachineStatus) bool {
	return slices.ContainsFunc(s.endpoint.request.Spec.Targets, func(t v1alpha1.LoadBalancerTarget) bool {
		return m.IPAddress != "" && t.IP == m.IPAddress
	})
}

// addLoopbackTo updates one control plane. What else its configuration has is what it was
// given first, so that nothing else changes.
func (s *Session) addLoopbackTo(ctx context.Context, client *talos.Client, i int) (*Obstacle, error) {
	m := s.Status.Machines[i]
	known := s.known(i)
	if s.carriesUserData() {
		known = v1alpha1.MachineRequestStatus{}
	}
	config, err := s.config(s.Plan.Machines[i], true, known)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	ready, err := client.APIServerReady(ctx, m.IPAddress, m.Name)
	if err == nil && ready {
		err = client.Update(ctx, m.IPAddress, config)
	}
	switch {
	case err != nil:
		return targetObstacle(m, step.Stable(err)), nil
	case !ready:
		return targetObstacle(m, "its API server is not ready"), nil
	}
	s.Status.Machines[i].LoopbackConfigured = true
	return nil, nil
}

func targetObstacle(m v1alpha1.BootstrapMachineStatus, message string) *Obstacle {
	return &Obstacle{Reason: "WaitingForTargets", Message: fmt.Sprintf("%s (%s) is no target of the load balancer yet: %s", m.Name, m.IPAddress, message), Poll: true}
}
