// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPagesAreAsGenerated(t *testing.T) {
	root := filepath.Join("..", "..")
	all, err := pages(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range all {
		is, err := os.ReadFile(filepath.Join(root, "docs", "reference", name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(is)); diff != "" {
			t.Errorf("docs/reference/%s differs, run make manifests: %s", name, diff)
		}
	}
}

func TestSchemaInWords(t *testing.T) {
	one, many := int64(1), int64(16)
	for name, test := range map[string]struct {
		schema        schema
		kind, limits  string
		defaultInPage string
	}{
		"number":          {schema{Type: "integer", Format: "int32", Minimum: &one, Maximum: &many, Default: 3.0}, "int32", "1 to 16", "`3`"},
		"choice":          {schema{Type: "string", Enum: []any{"a", "b"}, Default: "a"}, "string", "`a`, `b`", "`a`"},
		"list":            {schema{Type: "array", Items: &schema{Type: "string"}, MaxItems: &many}, "list of strings", "at most 16 elements", ""},
		"map":             {schema{Type: "object", AdditionalProperties: &schema{Type: "string"}}, "map of strings", "", ""},
		"pattern in cell": {schema{Type: "string", Pattern: "a|b", MinLength: &one}, "string", "at least 1 characters, `a\\|b`", ""},
		"quantity":        {schema{IntOrString: true}, "quantity", "", ""},
	} {
		if got := test.schema.kind(); got != test.kind {
			t.Errorf("%s: kind %q, want %q", name, got, test.kind)
		}
		if got := test.schema.limits(); got != test.limits {
			t.Errorf("%s: limits %q, want %q", name, got, test.limits)
		}
		if got := test.schema.defaultText(); got != test.defaultInPage {
			t.Errorf("%s: default %q, want %q", name, got, test.defaultInPage)
		}
	}
}
