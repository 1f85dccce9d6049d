// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ipam"
)

func allocated(name, first, last string, pinned bool) *v1alpha1.IPAllocation {
	a := &v1alpha1.IPAllocation{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.IPAllocationSpec{PoolRef: v1alpha1.LocalReference{Name: "lan"}}}
	a.Status = v1alpha1.IPAllocationStatus{StartAddress: first, EndAddress: last, Addresses: []string{first}}
	if pinned {
		a.Spec.PinnedRange = &v1alpha1.PinnedRange{StartAddress: first, EndAddress: last}
	}
	return a
}

func TestVIPOfTheSpecIsTriedAlsoIfNoPoolHandsItOut(t *testing.T) {
	fresh := []*v1alpha1.IPAllocation{allocated("dev-cp-0", "10.40.0.10", "10.40.0.10", false)}
	tried, says := conflicts("10.40.0.200", []demand{{name: "dev-cp-0"}}, fresh)
	if len(tried) != 2 || tried[1] != "10.40.0.200" || !strings.Contains(says["10.40.0.200"], "choose another address in spec.network") || !strings.Contains(says["10.40.0.10"], "add 10.40.0.10/32 to spec.reserved") {
		t.Error(tried, says)
	}
	if tried, _ := conflicts("api.example.com", nil, fresh); len(tried) != 1 {
		t.Error(tried)
	}
}

func TestAllocationIsGivenBackWhenItIsNotWhatTheClusterAsksFor(t *testing.T) {
	pool := networkPool("lan", "10.40.0.0/24", addresses("10.40.0.10", "10.40.0.60"))
	pool.Spec.Reserved = []v1alpha1.ReservedRange{{CIDR: "10.40.0.20/32"}}
	all, err := poolsOf(pool).candidates()
	if err != nil {
		t.Fatal(err)
	}
	pin := func(first, last string) *ipam.Range {
		r, err := ipam.NewRange(first, last)
		if err != nil {
			t.Fatal(err)
		}
		return &r
	}
	for name, tc := range map[string]struct {
		has    *v1alpha1.IPAllocation
		chosen *ipam.Range
		want   string
	}{
		"allowed":              {allocated("a", "10.40.0.10", "10.40.0.10", false), nil, ""},
		"reserved":             {allocated("a", "10.40.0.20", "10.40.0.20", false), nil, "NetworkPool lan no longer allows"},
		"partly reserved":      {allocated("a", "10.40.0.18", "10.40.0.25", false), nil, "NetworkPool lan no longer allows"},
		"named":                {allocated("a", "10.40.0.11", "10.40.0.11", true), pin("10.40.0.11", "10.40.0.11"), ""},
		"named and reserved":   {allocated("a", "10.40.0.20", "10.40.0.20", true), pin("10.40.0.20", "10.40.0.20"), ""},
		"another one is named": {allocated("a", "10.40.0.11", "10.40.0.11", true), pin("10.40.0.12", "10.40.0.12"), "other addresses than the spec names"},
		"now it is named":      {allocated("a", "10.40.0.11", "10.40.0.11", false), pin("10.40.0.11", "10.40.0.11"), ""},
		"no longer named":      {allocated("a", "10.40.0.11", "10.40.0.11", true), nil, "other addresses than the spec names"},
	} {
		got := outdated(tc.has, []demand{{name: "a", pinned: tc.chosen}}, all)
		if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
