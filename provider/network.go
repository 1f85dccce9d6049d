// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"fmt"
	"net/netip"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Network is the address that a machine has from its first boot, and what belongs to it.
type Network struct {
	// Address is the machine's, with the prefix length of its network.
	Address netip.Prefix
	// Gateway to other networks; the zero value means that there is none.
	Gateway netip.Addr
	// DNSServers that the machine asks.
	DNSServers []netip.Addr
}

// ParseNetwork reads spec.network of a request; nil stays nil. An error is Invalid: the API
// server checks the same.
func ParseNetwork(op string, n *v1alpha1.MachineNetwork) (*Network, error) {
	if n == nil {
		return nil, nil
	}
	parsed, err := parseNetwork(*n)
	if err != nil {
		return nil, Invalid.New(op, ReasonAddressInvalid, fmt.Errorf("spec.network.%w", err), "correct it by a new request")
	}
	return parsed, nil
}

func parseNetwork(n v1alpha1.MachineNetwork) (*Network, error) {
	address, err := netip.ParsePrefix(n.Address)
	if err != nil {
		return nil, fmt.Errorf("address: %w", err)
	}
	parsed := &Network{Address: address}
	if n.Gateway != "" {
		if parsed.Gateway, err = netip.ParseAddr(n.Gateway); err != nil {
			return nil, fmt.Errorf("gateway: %w", err)
		}
	}
	for _, text := range n.DNSServers {
		server, err := netip.ParseAddr(text)
		if err != nil {
			return nil, fmt.Errorf("dnsServers: %w", err)
		}
		parsed.DNSServers = append(parsed.DNSServers, server)
	}
	return parsed, nil
}

// Pooled reports whether the machines of a ProviderConfig get their addresses from
// NetworkPools.
func Pooled(s v1alpha1.ProviderConfigSpec) bool {
	return s.Network != nil && s.Network.Mode == v1alpha1.NetworkModeIPAM
}
