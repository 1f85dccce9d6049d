// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"net/netip"
	"strings"
	"testing"
)

const mac = "52:54:00:12:34:56"

// text is an interface in short: addresses, gateway and name servers; "dhcp", and "-" for
// none.
func text(i *Interface) string {
	if i == nil {
		return "-"
	}
	var all []string
	if i.DHCP {
		all = append(all, "dhcp")
	}
	for _, a := range i.Addresses {
		all = append(all, a.String())
	}
	if i.Gateway.IsValid() {
		all = append(all, "via "+i.Gateway.String())
	}
	for _, a := range i.DNSServers {
		all = append(all, "dns "+a.String())
	}
	return strings.Join(all, " ")
}

func TestReadNetworkData(t *testing.T) {
	tests := map[string]struct{ data, want string }{
		"version 2": {
			"version: 2\nethernets: {eth0: {addresses: [10.40.0.50/24], gateway4: 10.40.0.1, nameservers: {addresses: [10.40.0.53]}}}",
			"10.40.0.50/24 via 10.40.0.1 dns 10.40.0.53",
		},
		"version 2, wrapped": {"network: {version: 2, ethernets: {eth0: {addresses: ['fd00::5/64'], gateway6: 'fd00::1'}}}", "fd00::5/64 via fd00::1"},
		"version 2, by hardware address": {
			"version: 2\nethernets: {id0: {match: {macaddress: '52:54:00:12:34:56'}, set-name: eth9, addresses: [10.40.0.50/24], routes: [{to: 0.0.0.0/0, via: 10.40.0.1}]}}",
			"10.40.0.50/24 via 10.40.0.1",
		},
		"hardware address in capitals": {"version: 2\nethernets: {id0: {match: {macaddress: '52:54:00:12:34:56'}, addresses: [10.40.0.50/24]}}", "10.40.0.50/24"},
		"hardware address of another":  {"version: 2\nethernets: {id0: {match: {macaddress: '52:54:00:12:34:57'}, addresses: [10.40.0.50/24]}}", "-"},
		"predictable name":             {"version: 2\nethernets: {enp1s0: {addresses: [10.40.0.50/24]}}", "-"},
		"route elsewhere":              {"version: 2\nethernets: {eth0: {addresses: [10.40.0.50/24], routes: [{to: 10.0.0.0/8, via: 10.40.0.9}]}}", "10.40.0.50/24"},
		"other device":                 {"version: 2\nethernets: {eth1: {addresses: [10.0.0.1/8]}, eth0: {addresses: [10.0.0.2/8]}}", "10.0.0.2/8"},
		"lease":                        {"version: 2\nethernets: {eth0: {dhcp4: true}}", "dhcp"},
		"neither":                      {"version: 2\nethernets: {eth0: {}}", ""},
		"version 1": {
			"version: 1\nconfig: [{type: physical, name: eth0, subnets: [{type: static, address: 10.40.0.51/24, gateway: 10.40.0.1}]}, {type: nameserver, address: [10.40.0.53]}]",
			"10.40.0.51/24 via 10.40.0.1 dns 10.40.0.53",
		},
		"version 1, mask": {
			"version: 1\nconfig: [{type: physical, mac_address: '52:54:00:12:34:56', name: x, subnets: [{type: dhcp4}, {type: static, address: 10.40.0.52, netmask: 255.255.255.0}]}]",
			"dhcp 10.40.0.52/24",
		},
		"version 1, IPv6":   {"version: 1\nconfig: [{type: physical, name: eth0, subnets: [{type: static6, address: 'fd00::5/64', gateway: 'fd00::1'}]}]", "fd00::5/64 via fd00::1"},
		"version 1, lease":  {"version: 1\nconfig: [{type: physical, name: eth0, subnets: [{type: dhcp4}]}]", "dhcp"},
		"name servers only": {"version: 1\nconfig: [{type: nameserver, address: [10.40.0.1]}]", "-"},
		"nothing":           {"", "-"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Read([]byte(tt.data), Guest{MAC: strings.ToUpper(mac), Image: "talos-v1.9.2"})
			if err != nil || text(got) != tt.want {
				t.Errorf("got %q, %v; want %q", text(got), err, tt.want)
			}
		})
	}
}

// TestDataThatTalosIgnores has what makes Talos ignore network data as a whole.
func TestDataThatTalosIgnores(t *testing.T) {
	ok := "eth0: {addresses: [10.40.0.50/24]}"
	for name, data := range map[string]string{
		"no document":                  "#network",
		"no YAML":                      ": [",
		"no version":                   "ethernets: {" + ok + "}",
		"unknown version":              "version: 3\nethernets: {" + ok + "}",
		"version 2, no length":         "version: 2\nethernets: {eth0: {addresses: [10.40.0.50]}}",
		"malformed on another device":  "version: 2\nethernets: {" + ok + ", eth1: {addresses: [somewhere]}}",
		"malformed gateway":            "version: 2\nethernets: {eth0: {addresses: [10.40.0.50/24], gateway4: router}}",
		"malformed name server":        "version: 2\nethernets: {eth0: {addresses: [10.40.0.50/24], nameservers: {addresses: [dns]}}}",
		"version 1, neither length":    "version: 1\nconfig: [{type: physical, name: eth0, subnets: [{type: static, address: 10.40.0.51}]}]",
		"version 1, one name server":   "version: 1\nconfig: [{type: nameserver, address: 10.40.0.1}]",
		"default before Talos 1.12":    "version: 2\nethernets: {eth0: {addresses: [10.40.0.50/24], routes: [{to: default, via: 10.40.0.1}]}}",
		"version 1, malformed gateway": "version: 1\nconfig: [{type: physical, name: eth0, subnets: [{type: static, address: 10.40.0.51/24, gateway: x}]}]",
	} {
		if got, err := Read([]byte(data), Guest{MAC: mac, Image: "talos-v1.9.2"}); err == nil {
			t.Errorf("%s: %q", name, text(got))
		}
	}
}

func TestDefaultRouteByName(t *testing.T) {
	data := []byte("version: 2\nethernets: {eth0: {addresses: [10.40.0.50/24], routes: [{to: default, via: 10.40.0.1}]}}")
	for image, known := range map[string]bool{"talos-v1.11.5": false, "talos-v1.12.0": true, "v1.13.0 nocloud": true, "image-5rs6d": true} {
		got, err := Read(data, Guest{Image: image})
		if (err == nil) != known || known && got.Gateway != netip.MustParseAddr("10.40.0.1") {
			t.Errorf("%s: %q, %v", image, text(got), err)
		}
	}
}
