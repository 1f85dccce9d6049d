// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseDigests(t *testing.T) {
	a, b := "sha256:"+strings.Repeat("a", 64), "sha256:"+strings.Repeat("b", 64)
	cases := map[string]struct {
		text string
		want map[string]string
	}{
		"none":         {"", map[string]string{}},
		"two":          {"one=" + a + ",two=" + b, map[string]string{"one": a, "two": b}},
		"no name":      {"=" + a, nil},
		"no digest":    {"one", nil},
		"a short one":  {"one=sha256:abc", nil},
		"another kind": {"one=sha512:" + strings.Repeat("a", 64), nil},
	}
	for reason, c := range cases {
		t.Run(reason, func(t *testing.T) {
			got, err := ParseDigests(c.text)
			if (err != nil) != (c.want == nil) {
				t.Fatalf("ParseDigests = %v", err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
