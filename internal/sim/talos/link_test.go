// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/config/configloader"

	"github.com/butlerdotdev/butler/internal/sim/cloudinit"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// TestInterfaceOfAMachine follows the controllers of Talos: the platform's addresses stay, the
// configuration adds its own, and DHCP is the default of an interface that neither configures.
func TestInterfaceOfAMachine(t *testing.T) {
	const mac = "02:00:00:aa:bb:01"
	drive := &cloudinit.Interface{Addresses: []netip.Prefix{netip.MustParsePrefix("10.40.0.11/24")}, Gateway: netip.MustParseAddr("10.40.0.1")}
	legacy := func(devices string) string {
		return "version: v1alpha1\nmachine: {type: worker, network: {interfaces: [" + devices + "]}}\ncluster: {}\n"
	}
	documents := func(more string) string {
		return "version: v1alpha1\nmachine: {type: worker}\ncluster: {}\n---\napiVersion: v1alpha1\n" + more
	}
	alias := func(name, match string) string {
		return "kind: LinkAliasConfig\nname: " + name + "\nselector: {match: '" + match + "'}\n---\napiVersion: v1alpha1\n"
	}
	link := func(name string) string {
		return "kind: LinkConfig\nname: " + name + "\naddresses: [{address: 10.40.0.12/24}]\nroutes: [{gateway: 10.40.0.1}]\n"
	}
	for name, tt := range map[string]struct {
		platform *cloudinit.Interface
		config   string
		want     string
	}{
		"no configuration":            {want: "true [] -"},
		"disk alone":                  {platform: drive, want: "false [10.40.0.11/24] 10.40.0.1"},
		"configuration of nothing":    {config: legacy(""), want: "true [] -"},
		"disk and configuration":      {platform: drive, config: legacy(""), want: "false [10.40.0.11/24] 10.40.0.1"},
		"by name":                     {config: legacy("{interface: eth0, addresses: [10.40.0.12/24], routes: [{network: 0.0.0.0/0, gateway: 10.40.0.1}]}"), want: "false [10.40.0.12/24] 10.40.0.1"},
		"by another name":             {config: legacy("{interface: enp1s0, addresses: [10.40.0.12/24]}"), want: "true [] -"},
		"by hardware address":         {config: legacy("{deviceSelector: {hardwareAddr: '02:00:00:aa:bb:01'}, addresses: [10.40.0.12/24]}"), want: "false [10.40.0.12/24] -"},
		"by a pattern":                {config: legacy("{deviceSelector: {hardwareAddr: '02:00:*'}, addresses: [10.40.0.12/24]}"), want: "false [10.40.0.12/24] -"},
		"in capitals":                 {config: legacy("{deviceSelector: {hardwareAddr: '02:00:00:AA:BB:01'}, addresses: [10.40.0.12/24]}"), want: "true [] -"},
		"of another machine":          {config: legacy("{deviceSelector: {hardwareAddr: '02:00:00:aa:bb:02'}, addresses: [10.40.0.12/24]}"), want: "true [] -"},
		"physical":                    {config: legacy("{deviceSelector: {physical: true}, addresses: [10.40.0.12/24]}"), want: "false [10.40.0.12/24] -"},
		"driver":                      {config: legacy("{deviceSelector: {driver: e1000, physical: true}, addresses: [10.40.0.12/24]}"), want: "true [] -"},
		"named, without DHCP":         {config: legacy("{interface: eth0, vip: {ip: 10.40.0.100}}"), want: "false [] -"},
		"named, with DHCP":            {config: legacy("{deviceSelector: {physical: true}, dhcp: true, vip: {ip: 10.40.0.100}}"), want: "true [] -"},
		"ignored":                     {config: legacy("{interface: eth0, ignore: true}"), want: "false [] -"},
		"address without length":      {config: legacy("{interface: eth0, addresses: [10.40.0.12]}"), want: "false [10.40.0.12/32] -"},
		"another route":               {config: legacy("{interface: eth0, addresses: [10.40.0.12/24], routes: [{network: 10.0.0.0/8, gateway: 10.40.0.9}]}"), want: "false [10.40.0.12/24] -"},
		"the same as on the disk":     {platform: drive, config: legacy("{interface: eth0, addresses: [10.40.0.11/24], routes: [{gateway: 10.40.0.1}]}"), want: "false [10.40.0.11/24] 10.40.0.1"},
		"other than on the disk":      {platform: drive, config: legacy("{interface: eth0, addresses: [10.40.0.12/24], routes: [{gateway: 10.40.0.9}]}"), want: "false [10.40.0.11/24 10.40.0.12/24] 10.40.0.9"},
		"address of lo":               {config: legacy("{interface: lo, addresses: [10.0.0.5/32]}"), want: "true [] -"},
		"document":                    {config: documents(link("eth0")), want: "false [10.40.0.12/24] 10.40.0.1"},
		"document of another":         {config: documents(link("enp1s0")), want: "false [] -"},
		"document by alias":           {config: documents(alias("uplink", "mac(link.permanent_addr) == \"02:00:00:aa:bb:01\"") + link("uplink")), want: "false [10.40.0.12/24] 10.40.0.1"},
		"document by another's alias": {config: documents(alias("uplink", "mac(link.permanent_addr) == \"02:00:00:aa:bb:02\"") + link("uplink")), want: "false [] -"},
		"second alias":                {config: documents(alias("uplink", "link.type == 1") + alias("a", "link.type == 1") + link("uplink")), want: "false [] -"},
		"document for DHCP":           {config: documents("kind: DHCPv4Config\nname: eth0\n"), want: "true [] -"},
		"shared IP by alias":          {config: documents(alias("uplink", "link.type == 1") + "kind: Layer2VIPConfig\nname: 10.40.0.100\nlink: uplink\n"), want: "true [] -"},
	} {
		t.Run(name, func(t *testing.T) {
			m := datacenter.Machine{Platform: tt.platform}
			m.MAC = mac
			got := interfaceOf(m, nil)
			if tt.config != "" {
				cfg, err := configloader.NewFromBytes([]byte(tt.config))
				if err != nil {
					t.Fatal(err)
				}
				got = interfaceOf(m, cfg)
			}
			gateway := "-"
			if got.Gateway.IsValid() {
				gateway = got.Gateway.String()
			}
			if text := fmt.Sprintf("%v %v %s", got.DHCP, got.Addresses, gateway); text != tt.want {
				t.Errorf("got %s, want %s", text, tt.want)
			}
		})
	}
	if len(drive.Addresses) != 1 {
		t.Error("the disk has changed")
	}
}
