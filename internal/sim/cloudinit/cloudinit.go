// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package cloudinit reads what a guest takes from cloud-init, as the platform "nocloud" of
// Talos does it.
package cloudinit

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"sigs.k8s.io/yaml"
)

// Link is what a guest calls its first interface: nocloud images switch predictable names
// off.
const Link = "eth0"

// Interface is how a guest configures its one network interface.
type Interface struct {
	// DHCP is whether it asks for a lease.
	DHCP bool
	// Addresses are static.
	Addresses []netip.Prefix
	// Gateway is that of the default route; zero: none.
	Gateway netip.Addr
	// DNSServers are for all interfaces.
	DNSServers []netip.Addr
}

// Guest is the machine that reads.
type Guest struct {
	MAC   string // of its interface
	Image string // name of its image; a version of Talos in it decides what the guest knows
}

// document is network data, of version 1 or 2; some wrap it.
type document struct {
	networkConfig
	Network *networkConfig `json:"network"`
}

type networkConfig struct {
	Version   *int                `json:"version"`
	Config    []device            `json:"config"`
	Ethernets map[string]ethernet `json:"ethernets"`
}

// Read returns how the guest configures its interface by network data; nil: the data does not
// name the interface, and the guest does what it does without. A guest ignores data that
// cannot be read as a whole, down to one malformed address.
func Read(data []byte, g Guest) (*Interface, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var d document
	if err := yaml.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("network data: %w", err)
	}
	c := d.networkConfig
	if d.Network != nil {
		c = *d.Network
	}
	switch {
	case c.Version == nil:
		return nil, errors.New("network data: no version")
	case *c.Version == 1:
		return c.readDevices(g)
	case *c.Version == 2:
		return c.readEthernets(g)
	}
	return nil, fmt.Errorf("network data: version %d is not supported", *c.Version)
}

// names reports whether an entry is about the interface: by its hardware address, else by its
// name.
func (g Guest) names(name, mac string) bool {
	return mac != "" && strings.EqualFold(mac, g.MAC) || name == Link
}

func parseAddresses(texts []string) (out []netip.Addr, err error) {
	for _, text := range texts {
		a, err := netip.ParseAddr(text)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}
