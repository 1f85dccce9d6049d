// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package cloudinit reads what a guest takes from cloud-init.
package cloudinit

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// networkConfig is what counts here of cloud-init's network configuration: version 1
// has a list of devices, version 2 a map.
type networkConfig struct {
	Config []struct {
		Subnets []struct {
			Type    string `json:"type"`
			Address string `json:"address"`
		} `json:"subnets"`
	} `json:"config"`
	Ethernets map[string]struct {
		Addresses []string `json:"addresses"`
	} `json:"ethernets"`
}

// FixedAddress returns the first static address in network data, of version 1 or 2; without
// one the guest takes the lease that it is offered.
func FixedAddress(data []byte) netip.Addr {
	var c struct {
		networkConfig
		Network networkConfig `json:"network"` // some wrap it
	}
	if yaml.Unmarshal(data, &c) != nil {
		return netip.Addr{} // a guest ignores what it cannot read
	}
	for _, text := range append(c.addresses(), c.Network.addresses()...) {
		text, _, _ = strings.Cut(text, "/")
		if a, err := netip.ParseAddr(text); err == nil {
			return a
		}
	}
	return netip.Addr{}
}

func (c networkConfig) addresses() (all []string) {
	for _, device := range c.Config {
		for _, s := range device.Subnets {
			if strings.HasPrefix(s.Type, "static") {
				all = append(all, s.Address)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Ethernets)) {
		all = append(all, c.Ethernets[name].Addresses...)
	}
	return all
}
