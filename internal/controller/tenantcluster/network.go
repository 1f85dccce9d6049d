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

// checkNetwork refuses addresses that have no source, or no use.
func checkNetwork(_ context.Context, s *session) (*step.Obstacle, error) {
	net, onPrem, pools := s.Spec.Networking, s.provider.Spec.Provider.OnPrem(), s.provider.Spec.Network.IPAM()
	field := "spec.networking.lbPoolSize"
	if net.LoadBalancerPool != nil {
		field = "spec.networking.loadBalancerPool"
	}
	named := net.LBPoolSize > 0 || net.LoadBalancerPool != nil
	switch {
	case named && !onPrem:
		return nil, notServed("%s is for platforms without load balancers of their own, and %s has some; remove it", field, s.provider.Spec.Provider)
	case named && s.Spec.Addons.LoadBalancer == nil:
		return nil, notServed("%s has no effect without a load balancer; add the block spec.addons.loadBalancer, or remove it", field)
	case net.LBPoolSize > 0 && !pools:
		return nil, notServed("spec.networking.lbPoolSize needs NetworkPools, which ProviderConfig %s has none of; set its network.mode to ipam, or set spec.networking.loadBalancerPool instead", s.provider.Name)
	case s.Spec.Addons.LoadBalancer != nil && !named && onPrem && !pools:
		return nil, notServed("spec.addons.loadBalancer needs a range of addresses; set spec.networking.loadBalancerPool, or network.mode ipam of ProviderConfig %s", s.provider.Name)
	case s.provider.Spec.Provider == v1alpha1.ProviderProxmox && !pools:
		return nil, notServed("workers on Proxmox have static addresses, from NetworkPools; set network.mode ipam and network.poolRefs of ProviderConfig %s", s.provider.Name)
	}
	return nil, nil
}

func notServed(format string, args ...any) error {
	return &step.Failure{Reason: "NotServed", Message: fmt.Sprintf(format, args...)}
}

// checkImage refuses a Kubernetes that the Talos of the workers does not run, before the
// control plane has it: there would be no way back.
func checkImage(_ context.Context, s *session) (*step.Obstacle, error) {
	if _, err := talos.KubernetesVersion(s.Spec.Workers.MachineTemplate.OS.Talos.Version, s.Spec.KubernetesVersion); err != nil {
		return nil, notServed("spec.kubernetesVersion: %s; set spec.workers.machineTemplate.os.talos.version, and an image of that version, first", err)
	}
	return nil, nil
}
