// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"net/netip"
	"testing"
)

func TestFirstFreeAddressOfThePools(t *testing.T) {
	taken := map[netip.Addr]bool{netip.MustParseAddr("10.0.0.1"): true}
	for reason, tc := range map[string]struct {
		ranges []string
		want   string
	}{
		"no range":               {nil, ""},
		"a free one":             {[]string{"10.0.0.5-10.0.0.6"}, "10.0.0.5"},
		"the first is taken":     {[]string{"10.0.0.1 - 10.0.0.2"}, "10.0.0.2"},
		"all of a range are":     {[]string{"10.0.0.1-10.0.0.1", "10.0.1.0/31"}, "10.0.1.0"},
		"all of the first are":   {[]string{"10.0.0.1/32", "10.0.2.7-10.0.2.9"}, "10.0.2.7"},
		"all are":                {[]string{"10.0.0.1/32"}, ""},
		"a range makes no sense": {[]string{"ten", "10.0.0.9-10.0.0.9"}, "10.0.0.9"},
	} {
		got, ok := freeOf(tc.ranges, taken)
		if ok != (tc.want != "") || ok && got.String() != tc.want {
			t.Errorf("%s: %v, want %q", reason, got, tc.want)
		}
	}
	if from, to, err := parseRange("10.0.3.9/29"); err != nil || from.String() != "10.0.3.8" || to.String() != "10.0.3.15" {
		t.Errorf("from %v to %v, %v", from, to, err)
	}
}
