// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providerbinary

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// Documents returns the objects in the YAML blocks of a page below docs.
func Documents(t testing.TB, page string) (all []*unstructured.Unstructured) {
	t.Helper()
	for _, text := range documents(t, page) {
		u := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict([]byte(text), &u.Object); err != nil {
			t.Fatalf("%s: %v\n%s", page, err, text)
		}
		all = append(all, u)
	}
	return all
}

// Documented reads the first object of a kind from the YAML blocks of a page below docs.
func Documented(t testing.TB, page string, into client.Object) {
	t.Helper()
	kind := reflect.TypeOf(into).Elem().Name()
	for _, text := range documents(t, page) {
		if strings.Contains(text, "kind: "+kind+"\n") {
			Must(t, yaml.UnmarshalStrict([]byte(text), into))
			return
		}
	}
	t.Fatalf("%s has no %s", page, kind)
}

func documents(t testing.TB, page string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), "docs", page))
	Must(t, err)
	for _, block := range strings.Split(string(text), "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		all = append(all, strings.Split(block, "---\n")...)
	}
	return all
}

// root returns the directory of the module.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	Must(t, err)
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	t.Fatal("no go.mod above the working directory")
	return ""
}
