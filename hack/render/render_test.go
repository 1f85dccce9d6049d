// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const repository = "../.."

func rendered(t *testing.T, version string) map[string]string {
	t.Helper()
	files, err := render(repository, version)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestFilesAreAsTheChartsAre(t *testing.T) {
	files := rendered(t, "v0.0.0")
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(repository, name))
		if err != nil {
			t.Errorf("run `make manifests`: %v", err)
			continue
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("run `make manifests`: %s differs:\n%s", name, diff)
		}
	}
	for _, dir := range whole() {
		entries, err := os.ReadDir(filepath.Join(repository, dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if _, ok := files[dir+"/"+e.Name()]; !ok {
				t.Errorf("run `make manifests`: %s/%s is left over", dir, e.Name())
			}
		}
	}
}

func TestRenderingTwiceGivesTheSame(t *testing.T) {
	if diff := cmp.Diff(rendered(t, "v1.2.3"), rendered(t, "v1.2.3")); diff != "" {
		t.Error(diff)
	}
}

func TestTheVersionIsThatOfTheImages(t *testing.T) {
	for name, text := range rendered(t, "v1.2.3") {
		if strings.Contains(text, "v0.0.0") {
			t.Errorf("%s has the placeholder:\n%s", name, text)
		}
	}
	if text := rendered(t, "v1.2.3")["manifests/controllers/butler-bootstrap.yaml"]; !strings.Contains(text, "butler-bootstrap:v1.2.3\n") {
		t.Error(text)
	}
}

// identity names an object.
type identity struct{ Kind, Namespace, Name string }

// built follows a kustomization through files, as kustomize does.
func built(t *testing.T, dir string) (out []identity) {
	t.Helper()
	var k struct{ Resources []string }
	read(t, filepath.Join(dir, "kustomization.yaml"), &k)
	for _, resource := range k.Resources {
		path := filepath.Join(dir, resource)
		if info, err := os.Stat(path); err != nil {
			t.Errorf("%s refers to %s: %v", dir, resource, err)
		} else if info.IsDir() {
			out = append(out, built(t, path)...)
		} else {
			out = append(out, identities(t, path)...)
		}
	}
	return out
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func identities(t *testing.T, path string) (out []identity) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for part := range bytes.SplitSeq(data, []byte("\n---\n")) {
		var o struct {
			Kind     string
			Metadata struct{ Namespace, Name string }
		}
		if err := yaml.Unmarshal(part, &o); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if o.Kind != "" {
			out = append(out, identity{o.Kind, o.Metadata.Namespace, o.Metadata.Name})
		}
	}
	return out
}

// TestTheLayoutHasEverythingOnce: all objects of all charts, in their namespace.
func TestTheLayoutHasEverythingOnce(t *testing.T) {
	got := built(t, filepath.Join(repository, "config", "default"))
	want := []identity{{"Namespace", "", namespace}}
	charts, err := filepath.Glob(filepath.Join(repository, "charts", "*", "values.yaml"))
	if err != nil || len(charts) < 4 {
		t.Fatalf("%d charts, %v", len(charts), err)
	}
	for _, path := range charts {
		if filepath.Base(filepath.Dir(path)) == "butler-monitoring" {
			continue // for clusters with Prometheus and Grafana, and installed by their owners only
		}
		objects, err := objectsOf(filepath.Dir(path), "v0.0.0")
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			want = append(want, identity{o.GetKind(), o.GetNamespace(), o.GetName()})
		}
	}
	for _, list := range [][]identity{got, want} {
		slices.SortFunc(list, func(a, b identity) int { return strings.Compare(a.Kind+a.Namespace+a.Name, b.Kind+b.Namespace+b.Name) })
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNothingSaysThatHelmHasInstalledIt(t *testing.T) {
	for name, text := range rendered(t, "v0.0.0") {
		for _, word := range []string{"helm.sh/", "managed-by:", "app.kubernetes.io/instance"} {
			if strings.Contains(text, word) {
				t.Errorf("%s has %s", name, word)
			}
		}
	}
}

func TestWriteLeavesNothingOfBefore(t *testing.T) {
	root := t.TempDir()
	if err := write(root, map[string]string{"config/rbac/old.yaml": "a", "config/default/namespace.yaml": "b"}); err != nil {
		t.Fatal(err)
	}
	if err := write(root, map[string]string{"config/rbac/new.yaml": "c"}); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(root, "config", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(root, "config/default/namespace.yaml"), filepath.Join(root, "config/rbac/new.yaml")}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
}
