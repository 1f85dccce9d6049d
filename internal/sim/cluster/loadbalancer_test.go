// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"net/netip"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestFirstFreeAddressOfThePools(t *testing.T) {
	pool := func(ranges ...any) runtime.Object {
		return &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"addresses": ranges}}}
	}
	taken := map[netip.Addr]bool{netip.MustParseAddr("10.0.0.1"): true}
	for reason, tc := range map[string]struct {
		pools []runtime.Object
		want  string
	}{
		"no pool":                {nil, ""},
		"a free one":             {[]runtime.Object{pool("10.0.0.5-10.0.0.6")}, "10.0.0.5"},
		"the first is taken":     {[]runtime.Object{pool("10.0.0.1 - 10.0.0.2")}, "10.0.0.2"},
		"all of a range are":     {[]runtime.Object{pool("10.0.0.1-10.0.0.1", "10.0.1.0/31")}, "10.0.1.0"},
		"all of a pool are":      {[]runtime.Object{pool("10.0.0.1/32"), pool("10.0.2.7-10.0.2.9")}, "10.0.2.7"},
		"all are":                {[]runtime.Object{pool("10.0.0.1/32")}, ""},
		"a range makes no sense": {[]runtime.Object{pool("ten", "10.0.0.9-10.0.0.9")}, "10.0.0.9"},
	} {
		got, ok := freeOf(tc.pools, taken)
		if ok != (tc.want != "") || ok && got.String() != tc.want {
			t.Errorf("%s: %v, want %q", reason, got, tc.want)
		}
	}
	if from, to, err := parseRange("10.0.3.9/29"); err != nil || from.String() != "10.0.3.8" || to.String() != "10.0.3.15" {
		t.Errorf("from %v to %v, %v", from, to, err)
	}
}
