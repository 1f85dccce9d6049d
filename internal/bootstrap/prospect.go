// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"net/netip"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/talos"
)

// Prospect returns the addresses that a cluster gets of its pools if nothing else is
// allocated meanwhile, or why it cannot have them.
func (p Pools) Prospect(cb *v1alpha1.ClusterBootstrap) ([]v1alpha1.BootstrapAllocation, error) {
	all, err := p.candidates()
	if err != nil {
		return nil, err
	}
	if err := p.check(cb.Spec.Network, all); err != nil {
		return nil, err
	}
	assigned, err := p.assign(demandsOf(cb.Name, cb.Spec, machines(cb.Spec.Cluster), p.Config.Spec.Network), all)
	if err != nil {
		return nil, err
	}
	var out []v1alpha1.BootstrapAllocation
	for _, a := range assigned {
		out = append(out, v1alpha1.BootstrapAllocation{
			Name: a.Name, Pool: a.Pool, CIDR: a.Network.String(), StartAddress: a.Addresses.First.String(), EndAddress: a.Addresses.Last.String(),
		})
	}
	return out, nil
}

// MachineNetwork returns the network of a machine that has an address of a NetworkPool;
// nil for one that has none.
func MachineNetwork(s v1alpha1.ClusterBootstrapStatus, machine string, network *v1alpha1.ProviderNetworkSpec) *v1alpha1.MachineNetwork {
	a, ok := allocationOf(s, machine)
	if !ok {
		return nil
	}
	out := &v1alpha1.MachineNetwork{Address: a.StartAddress + "/" + prefixLength(a)}
	if network != nil {
		out.Gateway, out.DNSServers = network.Gateway, network.DNSServers
	}
	return out
}

// prefixLength is that of the network of an address.
func prefixLength(a v1alpha1.BootstrapAllocation) string {
	_, length, _ := strings.Cut(a.CIDR, "/")
	return length
}

// networkOf is what a machine is requested with, and configured with.
func (s *Session) networkOf(m Machine) *v1alpha1.MachineNetwork {
	return MachineNetwork(s.Status, m.Name, s.providerNetwork())
}

// timeServers are those that machines are configured with: platforms do not pass them on.
func (s *Session) timeServers() []string {
	if n := s.providerNetwork(); n != nil {
		return n.TimeServers
	}
	return nil
}

// providerNetwork is that of the ProviderConfig, nil if it says nothing about it.
func (s *Session) providerNetwork() *v1alpha1.ProviderNetworkSpec {
	if s.provider == nil {
		return nil
	}
	return s.provider.Spec.Network
}

// static is the address of a machine as its configuration has it. The API server has checked
// what it is read from.
func static(n *v1alpha1.MachineNetwork, timeServers []string, mac string) (out talos.Static) {
	if n == nil {
		return out
	}
	out.Address, _ = netip.ParsePrefix(n.Address)
	out.Gateway, _ = netip.ParseAddr(n.Gateway)
	for _, text := range n.DNSServers {
		if server, err := netip.ParseAddr(text); err == nil {
			out.DNS = append(out.DNS, server)
		}
	}
	out.Time, out.MAC = timeServers, mac
	return out
}
