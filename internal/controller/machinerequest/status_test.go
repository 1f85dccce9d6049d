// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

func TestThePrimaryAddressStaysWhileItIsReported(t *testing.T) {
	const own, vip, next = "10.40.0.12", "10.40.0.100", "10.40.0.77"
	for reason, tc := range map[string]struct {
		known    string
		reported []string
		want     []string // the first one is the primary one
	}{
		"the first of all":             {"", []string{own, vip}, []string{own, vip}},
		"another one comes first":      {own, []string{vip, own, next}, []string{own, vip, next}},
		"it is not reported any more":  {own, []string{next, vip}, []string{next, vip}},
		"none is: all are still known": {own, nil, []string{own}},
	} {
		r := &v1alpha1.MachineRequest{}
		s := &r.Status
		s.IPAddress = tc.known
		if tc.known != "" {
			s.IPAddresses = []string{tc.known}
		}
		m := provider.Machine{State: provider.StateRunning}
		for _, a := range tc.reported {
			m.Addresses = append(m.Addresses, netip.MustParseAddr(a))
		}
		describe(r, m)
		if diff := cmp.Diff(tc.want, s.IPAddresses); diff != "" || s.IPAddress != tc.want[0] {
			t.Errorf("%s: primary %q, %s", reason, s.IPAddress, diff)
		}
	}
}
