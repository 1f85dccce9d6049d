// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"fmt"
	"net"
	"net/netip"
)

// device is an entry of version 1.
type device struct {
	Type    string   `json:"type"`
	Name    string   `json:"name"`
	MAC     string   `json:"mac_address"`
	Address []string `json:"address"` // of name servers
	Subnets []subnet `json:"subnets"`
}

type subnet struct {
	Type    string `json:"type"`
	Address string `json:"address"`
	Netmask string `json:"netmask"`
	Gateway string `json:"gateway"`
}

func (c networkConfig) readDevices(g Guest) (out *Interface, err error) {
	var servers []netip.Addr
	for _, d := range c.Config {
		switch d.Type {
		case "nameserver":
			more, err := parseAddresses(d.Address)
			if err != nil {
				return nil, fmt.Errorf("network data: %w", err)
			}
			servers = append(servers, more...)
		case "physical":
			i, err := d.read()
			if err != nil {
				return nil, fmt.Errorf("network data: %s: %w", d.Name, err)
			}
			if g.names(d.Name, d.MAC) && out == nil {
				out = i
			}
		}
	}
	if out != nil {
		out.DNSServers = servers
	}
	return out, nil
}

func (d device) read() (*Interface, error) {
	out := &Interface{}
	for _, s := range d.Subnets {
		switch s.Type {
		case "dhcp", "dhcp4":
			out.DHCP = true
		case "static", "static6":
			if err := s.read(out); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (s subnet) read(out *Interface) error {
	prefix, err := s.prefix()
	if err != nil {
		return err
	}
	out.Addresses = append(out.Addresses, prefix)
	if s.Gateway == "" {
		return nil
	}
	gateway, err := netip.ParseAddr(s.Gateway)
	if err == nil && !out.Gateway.IsValid() {
		out.Gateway = gateway
	}
	return err
}

// prefix is the address with its length, or with a mask.
func (s subnet) prefix() (netip.Prefix, error) {
	if p, err := netip.ParsePrefix(s.Address); err == nil {
		return p, nil
	}
	address, err := netip.ParseAddr(s.Address)
	if err != nil {
		return netip.Prefix{}, err
	}
	mask, err := netip.ParseAddr(s.Netmask)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("netmask of %v: %w", address, err)
	}
	ones, _ := net.IPMask(mask.AsSlice()).Size()
	return netip.PrefixFrom(address, ones), nil
}
