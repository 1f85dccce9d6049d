// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nocloud

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/provider"
)

func TestTheAddressIsThatOfTheInterface(t *testing.T) {
	const mac = "02:00:00:00:00:0a" // cloud-init compares lower case
	for reason, c := range map[string]struct {
		network provider.Network
		want    map[string]any
	}{
		"all fields": {
			provider.Network{
				Address: netip.MustParsePrefix("10.40.0.11/24"), Gateway: netip.MustParseAddr("10.40.0.1"),
				DNSServers: []netip.Addr{netip.MustParseAddr("10.40.0.2"), netip.MustParseAddr("fd00::2")},
			},
			map[string]any{"addresses": []any{"10.40.0.11/24"}, "gateway4": "10.40.0.1", "nameservers": map[string]any{"addresses": []any{"10.40.0.2", "fd00::2"}}},
		},
		"IPv6": {
			provider.Network{Address: netip.MustParsePrefix("fd00:40::11/64"), Gateway: netip.MustParseAddr("fd00:40::1")},
			map[string]any{"addresses": []any{"fd00:40::11/64"}, "gateway6": "fd00:40::1"},
		},
		"no gateway": {
			provider.Network{Address: netip.MustParsePrefix("10.40.0.11/24")},
			map[string]any{"addresses": []any{"10.40.0.11/24"}},
		},
	} {
		var got map[string]any
		if err := yaml.Unmarshal([]byte(NetworkData(provider.MachineSpec{Network: &c.network}, strings.ToUpper(mac)).Reveal()), &got); err != nil {
			t.Fatal(err)
		}
		c.want["match"] = map[string]any{"macaddress": mac}
		if diff := cmp.Diff(map[string]any{"version": 2.0, "ethernets": map[string]any{"ethernet": c.want}}, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", reason, diff)
		}
	}
}

func TestNetworkDataIsPassedOnAsItIs(t *testing.T) {
	if got := NetworkData(provider.MachineSpec{NetworkData: "version: 2\n"}, "x"); got != "version: 2\n" {
		t.Errorf("%s", got.Reveal())
	}
	if got := NetworkData(provider.MachineSpec{}, "x"); got != "" {
		t.Errorf("%s", got.Reveal())
	}
}

func TestADriveIsNeededForEachOfItsFiles(t *testing.T) {
	for reason, c := range map[string]struct {
		spec provider.MachineSpec
		want bool
	}{
		"nothing":      {provider.MachineSpec{}, false},
		"user data":    {provider.MachineSpec{UserData: "x"}, true},
		"network data": {provider.MachineSpec{NetworkData: "x"}, true},
		"an address":   {provider.MachineSpec{Network: &provider.Network{}}, true},
	} {
		if got := Needed(c.spec); got != c.want {
			t.Errorf("%s: %v", reason, got)
		}
	}
}

func TestUserDataIsNeverEmpty(t *testing.T) {
	if got := UserData("").Reveal(); got != "#cloud-config\n" {
		t.Errorf("%q", got)
	}
	if got := UserData("machine: {}").Reveal(); got != "machine: {}" {
		t.Errorf("%q", got)
	}
}

func TestAnOwnerHasOneHardwareAddress(t *testing.T) {
	a, b := provider.Owner{ID: "a"}, provider.Owner{ID: "b"}
	if MAC(a) != MAC(provider.Owner{ID: "a", Cluster: "mgmt"}) || MAC(a) == MAC(b) {
		t.Errorf("%s and %s", MAC(a), MAC(b))
	}
	mac, err := net.ParseMAC(MAC(a))
	if err != nil || mac[0]&1 != 0 || mac[0]&2 == 0 {
		t.Errorf("%s is no locally administered address of one interface: %v", mac, err)
	}
}
