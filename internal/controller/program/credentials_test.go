// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSecretsAreWatchedInTheNamespacesOfTheFlagAlone(t *testing.T) {
	cases := map[string]struct {
		args []string
		want []string
	}{
		"without the flag everywhere": {nil, nil},
		"one":                         {[]string{"--credentials-namespaces=a"}, []string{"a"}},
		"several, each once":          {[]string{"--credentials-namespaces", "b,a,b"}, []string{"a", "b"}},
	}
	for name, c := range cases {
		n := &Namespaces{}
		if _, err := (Program{Name: "x", Credentials: n}).parse(c.args, &bytes.Buffer{}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range n.cache().ByObject {
			got = slices.Sorted(maps.Keys(o.Namespaces))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestWhatIsNoNamespaceIsRefused(t *testing.T) {
	for _, list := range []string{"", "a,", "A", "a b", "a/b"} {
		if _, err := (Program{Name: "x", Credentials: &Namespaces{}}).parse([]string{"--credentials-namespaces", list}, &bytes.Buffer{}); err == nil {
			t.Errorf("%q is taken", list)
		}
	}
}

func TestOnlyProgramsWithCredentialsHaveTheFlag(t *testing.T) {
	if _, err := (Program{Name: "x"}).parse([]string{"--credentials-namespaces=a"}, &bytes.Buffer{}); err == nil {
		t.Error("a flag without an effect is taken")
	}
}
