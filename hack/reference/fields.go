// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// begin is the line behind which a page is generated.
const begin = "<!-- Generated from the types below this line: make manifests. -->"

// definition is what is used of a CustomResourceDefinition.
type definition struct {
	Spec struct {
		Names    struct{ Singular string }
		Versions []struct {
			Schema struct {
				OpenAPIV3Schema schema
			}
		}
	}
}

// fieldsOfKinds returns the page of each kind, with the tables of its fields replaced.
func fieldsOfKinds(root string) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(root, "config", "crd", "bases", "*.yaml"))
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, file := range files {
		name, page, err := withFields(root, file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all[name] = page
	}
	return all, nil
}

func withFields(root, file string) (name, page string, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", "", err
	}
	var d definition
	if err := yaml.Unmarshal(data, &d); err != nil {
		return "", "", err
	}
	name = d.Spec.Names.Singular + ".md"
	written, err := os.ReadFile(filepath.Join(root, "docs", "reference", name))
	if err != nil {
		return "", "", err
	}
	before, _, _ := strings.Cut(string(written), begin)
	return name, strings.TrimRight(before, "\n") + "\n\n" + section(d), nil
}

// section is the generated part of a page.
func section(d definition) string {
	var b strings.Builder
	b.WriteString(begin + "\n\n## All fields\n\nAs the API server checks them; rules that compare fields are above.\n")
	whole := d.Spec.Versions[0].Schema.OpenAPIV3Schema
	for _, part := range []string{"spec", "status"} {
		fmt.Fprintf(&b, "\n### Fields of %s\n\n", part)
		table(&b, whole.Properties[part], part == "spec")
	}
	return b.String()
}

// table writes a row for each field; a status has neither defaults nor limits worth one.
func table(b *strings.Builder, s schema, limits bool) {
	if !limits {
		b.WriteString("| field | type | description |\n|---|---|---|\n")
	} else {
		b.WriteString("| field | type | required | default | limits | description |\n|---|---|---|---|---|---|\n")
	}
	rows(b, "", s, limits)
}

func rows(b *strings.Builder, prefix string, s schema, limits bool) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		field, path := s.Properties[name], prefix+name
		if limits {
			required := map[bool]string{true: "yes"}[slices.Contains(s.Required, name)]
			fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s | %s |\n", path, field.kind(), required, field.defaultText(), field.limits(), cell(field.Description))
		} else {
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", path, field.kind(), cell(field.Description))
		}
		if name == "conditions" { // the same for every kind of Kubernetes
			continue
		}
		rows(b, path+".", field, limits)
		if field.Items != nil {
			rows(b, path+"[].", *field.Items, limits)
		}
	}
}

// cell is a text as one cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}
