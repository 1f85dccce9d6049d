// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"net/netip"
	"testing"
)

func TestStaticAddressOfNetworkData(t *testing.T) {
	tests := map[string]struct{ data, want string }{
		"version 2":            {"version: 2\nethernets: {eth0: {addresses: [10.40.0.50/24], gateway4: 10.40.0.1}}", "10.40.0.50"},
		"version 2, wrapped":   {"network: {version: 2, ethernets: {eth0: {addresses: ['fd00::5/64']}}}", "fd00::5"},
		"version 1":            {"version: 1\nconfig: [{type: physical, name: eth0, subnets: [{type: static, address: 10.40.0.51/24}]}]", "10.40.0.51"},
		"version 1, bare":      {"version: 1\nconfig: [{type: physical, subnets: [{type: dhcp4}, {type: static, address: 10.40.0.52, netmask: 255.255.255.0}]}]", "10.40.0.52"},
		"first device":         {"version: 2\nethernets: {eth1: {addresses: [10.0.0.1/8]}, eth0: {addresses: [10.0.0.2/8]}}", "10.0.0.2"},
		"lease":                {"version: 2\nethernets: {eth0: {dhcp4: true}}", ""},
		"nothing":              {"", ""},
		"nothing to be read":   {"#network", ""},
		"no network at all":    {": [", ""},
		"not even an address":  {"version: 2\nethernets: {eth0: {addresses: [somewhere]}}", ""},
		"name server and such": {"version: 1\nconfig: [{type: nameserver, address: [10.40.0.1]}]", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var want netip.Addr
			if tt.want != "" {
				want = netip.MustParseAddr(tt.want)
			}
			if got := FixedAddress([]byte(tt.data)); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}
