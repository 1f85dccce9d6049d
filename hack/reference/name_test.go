// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// foreign are fields of kinds of Kubernetes and Harvester that pages name.
var foreign = map[string]bool{"status.loadBalancer": true, "spec.backend": true}

// ofOthers reports whether a page is about kinds of others: decisions, and simulators.
func ofOthers(page string) bool {
	return strings.Contains(page, "docs/adr/") || strings.Contains(page, "docs/contributing/sim-")
}

func TestPagesNameFieldsThatExist(t *testing.T) {
	known := fieldPaths(t)
	found := 0
	for name, text := range pageTexts(t) {
		for _, m := range regexp.MustCompile("`((?:spec|status)\\.[A-Za-z0-9.\\[\\]]+)").FindAllStringSubmatch(text, -1) {
			found++
			path := strings.TrimSuffix(strings.ReplaceAll(m[1], "[]", ""), ".")
			if !known[path] && !foreign[path] && !ofOthers(name) {
				t.Errorf("%s: no kind has the field %s", name, path)
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d fields were found", found)
	}
}

// fieldPaths are the fields of all kinds.
func fieldPaths(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("../../config/crd/bases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d definitions, %v", len(files), err)
	}
	all := map[string]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var d definition
		if err := yaml.Unmarshal(data, &d); err != nil {
			t.Fatal(err)
		}
		collect(all, "", d.Spec.Versions[0].Schema.OpenAPIV3Schema)
	}
	return all
}

func collect(to map[string]bool, prefix string, s schema) {
	for name, field := range s.Properties {
		to[prefix+name] = true
		collect(to, prefix+name+".", field)
		if field.Items != nil {
			collect(to, prefix+name+".", *field.Items)
		}
	}
}

// pageTexts are the pages for users.
func pageTexts(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, dir := range []string{"docs", "charts"} {
		err := filepath.WalkDir(filepath.Join("..", "..", dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".md") {
				return err
			}
			data, err := os.ReadFile(path)
			all[path] = string(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	all["README.md"] = string(readme)
	return all
}
