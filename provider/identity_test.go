// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import "testing"

func TestTheFirstCommonMarkDecidesWhetherPlatformsAreTheSame(t *testing.T) {
	whole := NewIdentity(Mark{"kube-system", "1"}, Mark{"default", "2"})
	for reason, c := range map[string]struct {
		other Identity
		want  Likeness
	}{
		"itself":                              {whole, Same},
		"another platform":                    {NewIdentity(Mark{"kube-system", "3"}, Mark{"default", "4"}), Different},
		"credentials that may read less":      {NewIdentity(Mark{"kube-system", ""}, Mark{"default", "2"}), Same},
		"another platform, and may read less": {"default=4", Different},
		"a namespace that was created again":  {NewIdentity(Mark{"kube-system", "1"}, Mark{"default", "4"}), Same},
		"nothing in common":                   {"tenant=1", Incomparable},
		"nothing":                             {"", Incomparable},
	} {
		if got := whole.Compare(c.other); got != c.want {
			t.Errorf("%s: %d, want %d", reason, got, c.want)
		}
		if got := c.other.Compare(whole); got != c.want {
			t.Errorf("%s, the other way round: %d, want %d", reason, got, c.want)
		}
	}
}
