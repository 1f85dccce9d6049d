// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOrdersAreReadStrictly(t *testing.T) {
	got, err := parse("kill@pivot/copy, clock=-3h@bootstrap/Pivoting,\ntwin\n")
	want := orders{
		{text: "kill@pivot/copy", what: kill, boundary: "pivot/copy"},
		{text: "clock=-3h@bootstrap/Pivoting", what: clock, value: "-3h", boundary: "bootstrap/Pivoting"},
		{text: "twin", what: twin},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(order{})); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, wrong := range []string{"kill", "kill=1@pivot/copy", "twin@pivot/copy", "clock=soon@pivot/copy", "fill=much@pivot/copy", "explode@pivot/copy"} {
		if _, err := parse(wrong); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}
