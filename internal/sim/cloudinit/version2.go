// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
)

// ethernet is an entry of version 2.
type ethernet struct {
	Match struct {
		MAC string `json:"macaddress"`
	} `json:"match"`
	DHCP4       bool     `json:"dhcp4"`
	Addresses   []string `json:"addresses"`
	Gateway4    string   `json:"gateway4"`
	Gateway6    string   `json:"gateway6"`
	Nameservers struct {
		Addresses []string `json:"addresses"`
	} `json:"nameservers"`
	Routes []route `json:"routes"`
}

type route struct {
	To  string `json:"to"`
	Via string `json:"via"`
}

func (c networkConfig) readEthernets(g Guest) (out *Interface, err error) {
	var servers []netip.Addr
	for _, name := range slices.Sorted(maps.Keys(c.Ethernets)) {
		e := c.Ethernets[name]
		i, err := e.read(g)
		if err != nil {
			return nil, fmt.Errorf("network data: %s: %w", name, err)
		}
		servers = append(servers, i.DNSServers...)
		if g.names(name, e.Match.MAC) && out == nil {
			out = i
		}
	}
	if out != nil {
		out.DNSServers = servers
	}
	return out, nil
}

func (e ethernet) read(g Guest) (*Interface, error) {
	out := &Interface{DHCP: e.DHCP4}
	for _, text := range e.Addresses {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, err
		}
		out.Addresses = append(out.Addresses, prefix)
	}
	var err error
	if out.DNSServers, err = parseAddresses(e.Nameservers.Addresses); err != nil {
		return nil, err
	}
	return out, e.readGateway(g, out)
}

// readGateway takes the first gateway there is, in the old form or as a default route.
func (e ethernet) readGateway(g Guest, out *Interface) error {
	var texts []string
	for _, text := range []string{e.Gateway4, e.Gateway6} {
		if text != "" {
			texts = append(texts, text)
		}
	}
	for _, r := range e.Routes {
		everywhere, err := r.isDefault(g)
		if err != nil {
			return err
		}
		if _, err := netip.ParseAddr(r.Via); err != nil {
			return err
		}
		if everywhere {
			texts = append(texts, r.Via)
		}
	}
	all, err := parseAddresses(texts)
	if len(all) > 0 {
		out.Gateway = all[0]
	}
	return err
}

func (r route) isDefault(g Guest) (bool, error) {
	if r.To == "default" && g.knowsDefault() {
		return true, nil
	}
	to, err := netip.ParsePrefix(r.To)
	if err != nil {
		return false, fmt.Errorf("destination of a route: %w", err)
	}
	return to.Bits() == 0, nil
}

var versionBefore112 = regexp.MustCompile(`v1\.([0-9]|1[01])\.[0-9]+`)

// knowsDefault reports whether the guest takes the word "default" for a destination: Talos
// does since 1.12, and ignores all network data with it before.
func (g Guest) knowsDefault() bool { return !versionBefore112.MatchString(g.Image) }
