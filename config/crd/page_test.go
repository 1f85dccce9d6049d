// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package crd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEveryFieldAndRuleIsOnThePageOfItsKind(t *testing.T) {
	for _, d := range definitions(t) {
		page := page(t, d.Spec.Names.Singular)
		for _, path := range specFields(d) {
			want(t, d.Spec.Names.Kind, page, strings.TrimPrefix(path, "spec."))
		}
		walk("", *d.Spec.Versions[0].Schema.OpenAPIV3Schema, func(_ string, s schemaProps) {
			for _, v := range s.XValidations {
				// One row speaks for the blocks of all providers.
				if !strings.HasPrefix(v.Message, "block ") {
					want(t, d.Spec.Names.Kind, page, v.Message)
				}
			}
		})
	}
}

func TestEveryPhaseAndStatusFieldIsOnThePageOfItsKind(t *testing.T) {
	for _, d := range definitions(t) {
		page := page(t, d.Spec.Names.Singular)
		status := d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
		for name := range status.Properties {
			want(t, d.Spec.Names.Kind, strings.ReplaceAll(page, "[]`", "`"), name)
		}
		for _, phase := range status.Properties["phase"].Enum {
			want(t, d.Spec.Names.Kind, page, strings.Trim(string(phase.Raw), `"`))
		}
		for _, short := range d.Spec.Names.ShortNames {
			want(t, d.Spec.Names.Kind, page, short)
		}
	}
}

// page is the reference page of a kind, as far as people have written it.
func page(t *testing.T, kind string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "docs", "reference", kind+".md"))
	if err != nil {
		t.Fatal(err)
	}
	written, _, generated := strings.Cut(string(data), "<!-- Generated")
	if !generated {
		t.Errorf("the page of %s has no generated part; run make manifests", kind)
	}
	return written
}

// want fails unless a page has the text as code.
func want(t *testing.T, kind, page, text string) {
	t.Helper()
	if !strings.Contains(page, "`"+text+"`") {
		t.Errorf("the page of %s does not have `%s`", kind, text)
	}
}
