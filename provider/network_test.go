// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func TestTheNetworkOfARequestIsRead(t *testing.T) {
	if n, err := ParseNetwork("create", nil); n != nil || err != nil {
		t.Errorf("%+v, %v", n, err)
	}
	got, err := ParseNetwork("create", &v1alpha1.MachineNetwork{
		Address: "10.40.0.11/24", Gateway: "10.40.0.1", DNSServers: []string{"10.40.0.2", "fd00::2"},
	})
	want := &Network{
		Address: netip.MustParsePrefix("10.40.0.11/24"), Gateway: netip.MustParseAddr("10.40.0.1"),
		DNSServers: []netip.Addr{netip.MustParseAddr("10.40.0.2"), netip.MustParseAddr("fd00::2")},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := ParseNetwork("create", &v1alpha1.MachineNetwork{Address: "fd00::11/64"}); err != nil || got.Gateway.IsValid() {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestANetworkThatCannotBeReadIsRefused(t *testing.T) {
	for field, n := range map[string]v1alpha1.MachineNetwork{
		"spec.network.address":    {Address: "10.40.0.11"},
		"spec.network.gateway":    {Address: "10.40.0.11/24", Gateway: "router"},
		"spec.network.dnsServers": {Address: "10.40.0.11/24", DNSServers: []string{"dns.example.com"}},
	} {
		_, err := ParseNetwork("create", &n)
		if KindOf(err) != Invalid || ReasonOf(err) != ReasonAddressInvalid || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}
