// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

func TestFlagsLimitTheSecretsOfCredentials(t *testing.T) {
	cases := map[string]struct {
		args []string
		want string
	}{
		"without a flag all":    {nil, "a/x a/y b/x b/y"},
		"no Secret":             {[]string{"--credentials-secrets="}, ""},
		"one Secret":            {[]string{"--credentials-secrets=a/x"}, "a/x"},
		"Secrets of two places": {[]string{"--credentials-secrets", "a/x,b/y"}, "a/x b/y"},
		"a namespace":           {[]string{"--credentials-namespaces=a"}, "a/x a/y"},
		"both":                  {[]string{"--credentials-namespaces=a", "--credentials-secrets=b/x"}, "a/x a/y b/x"},
	}
	for name, c := range cases {
		credentials := &Credentials{}
		if _, err := (Program{Name: "x", Credentials: credentials}).parse(c.args, &bytes.Buffer{}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range []types.NamespacedName{{Namespace: "a", Name: "x"}, {Namespace: "a", Name: "y"}, {Namespace: "b", Name: "x"}, {Namespace: "b", Name: "y"}} {
			if credentials.Allows(s) {
				got = append(got, s.String())
			}
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestWhatNamesNoSecretsIsRefused(t *testing.T) {
	for name, lists := range map[string][]string{
		"--credentials-namespaces": {"", "a,", "A", "a b", "a/b"},
		"--credentials-secrets":    {"a", "a/", "/b", "a/b,", "a/b/c", "a/B", "A/b"},
	} {
		for _, list := range lists {
			if _, err := (Program{Name: "x", Credentials: &Credentials{}}).parse([]string{name, list}, &bytes.Buffer{}); err == nil {
				t.Errorf("%s %q is accepted", name, list)
			}
		}
	}
}

func TestOnlyProgramsWithCredentialsHaveTheFlag(t *testing.T) {
	if _, err := (Program{Name: "x"}).parse([]string{"--credentials-namespaces=a"}, &bytes.Buffer{}); err == nil {
		t.Error("a flag without an effect is taken")
	}
}
