// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"fmt"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/talos"
)

// checkNetwork refuses what needs addresses of NetworkPools: tenant clusters get none yet.
func checkNetwork(_ context.Context, s *session) (*step.Obstacle, error) {
	net := s.Spec.Networking
	switch {
	case net.LBPoolSize > 0:
		return nil, &step.Failure{Reason: "NotServed", Message: "spec.networking.lbPoolSize: addresses of NetworkPools are not served for tenant clusters; set spec.networking.loadBalancerPool"}
	case s.Spec.Addons.LoadBalancer != nil && net.LoadBalancerPool == nil && s.provider.Spec.Provider.OnPrem():
		return nil, &step.Failure{Reason: "NotServed", Message: "spec.addons.loadBalancer needs a range of addresses; set spec.networking.loadBalancerPool"}
	case s.provider.Spec.Provider == v1alpha1.ProviderProxmox:
		return nil, &step.Failure{Reason: "NotServed", Message: "workers on Proxmox need addresses of a NetworkPool, which are not served for tenant clusters yet"}
	case s.provider.Spec.Network.IPAM():
		return nil, &step.Failure{Reason: "NotServed", Message: "the ProviderConfig has network.mode ipam, which is not served for tenant clusters yet; use one whose machines get their addresses from the network"}
	}
	return nil, nil
}

// checkImage refuses a Kubernetes that the Talos of the workers does not run, before the
// control plane has it: there would be no way back.
func checkImage(_ context.Context, s *session) (*step.Obstacle, error) {
	if _, err := talos.KubernetesVersion(s.Spec.Workers.MachineTemplate.OS.Talos.Version, s.Spec.KubernetesVersion); err != nil {
		return nil, &step.Failure{Reason: "NotServed", Message: fmt.Sprintf("spec.kubernetesVersion: %s; set spec.workers.machineTemplate.os.talos.version, and an image of that version, first", err)}
	}
	return nil, nil
}
