// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	kubevirtv1 "kubevirt.io/api/core/v1"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

func TestTheGuestAgentReportsAnAddressThatTheGuestShares(t *testing.T) {
	m := &datacenter.Machine{Address: netip.MustParsePrefix("10.40.0.7/24"), Shared: []netip.Addr{netip.MustParseAddr("10.40.0.200")}}
	with := interfaces(kubevirtv1.VirtualMachineInstanceSpec{}, m, true)
	if diff := cmp.Diff([]string{"10.40.0.7", "10.40.0.200", "fe80::5054:ff:fe12:3456"}, with[0].IPs); diff != "" || with[0].IP != "10.40.0.7" {
		t.Errorf("%s\n%s", with[0].IP, diff)
	}
	if without := interfaces(kubevirtv1.VirtualMachineInstanceSpec{}, m, false); len(without[0].IPs) > 0 {
		t.Errorf("without an agent: %v", without[0].IPs)
	}
}
