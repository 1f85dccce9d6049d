// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/internal/addon"
)

func put(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	if err := write(dir, name, data); err != nil {
		t.Fatal(err)
	}
}

// inDirectory is a source that has nothing but a directory: a call to the network
// fails.
func inDirectory(t *testing.T, dir string) *Source {
	t.Helper()
	w := newFixture(t)
	s := w.source(t, dir)
	t.Cleanup(func() {
		if len(w.requests) > 0 {
			t.Errorf("the network was asked: %v", w.requests)
		}
	})
	return s
}

func TestADirectoryHasCharts(t *testing.T) {
	const metadata = "apiVersion: v2\nname: cilium\nversion: 1.17.0\n"
	archive := chartArchive(t, "cilium", "1.17.0")
	for name, files := range map[string]map[string][]byte{
		"cilium-1.17.0.tgz":  {"cilium-1.17.0.tgz": archive},
		"cilium-v1.17.0.tgz": {"cilium-v1.17.0.tgz": archive, "cilium-1.16.0.tgz": []byte("another one")},
		"cilium": {
			"cilium/Chart.yaml": []byte(metadata), "cilium/templates/cm.yaml": []byte("a: b"), "cilium/.helmignore": []byte("*.md\n"),
			"cilium/README.md": []byte("ignored"), "cilium/charts/sub/Chart.yaml": []byte("apiVersion: v2\nname: sub\nversion: 1.0.0\n"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for f, data := range files {
				put(t, dir, f, data)
			}
			c := fetched(t, inDirectory(t, dir), cilium(), nil)
			if c.Chart.Metadata.Version != "1.17.0" || len(c.Chart.Templates) != 1 || c.Origin != filepath.Join(dir, name) || c.Digest == "" {
				t.Errorf("%+v from %s, %s", c.Chart, c.Origin, c.Digest)
			}
			if name == "cilium" && (len(c.Chart.Dependencies()) != 1 || len(c.Chart.Files) != 1) {
				t.Errorf("%d charts below, files %v", len(c.Chart.Dependencies()), c.Chart.Files)
			}
		})
	}
}

func TestADirectoryThatLacksAnAddon(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "cilium-1.16.1.tgz", []byte("never read"))
	put(t, dir, "cilium/Chart.yaml", []byte("apiVersion: v2\nname: cilium\nversion: 1.17.1\n"))
	s := inDirectory(t, dir)
	for what, a := range map[string]addon.Addon{
		"chart cilium 1.17.0 is not at " + dir + ": the nearest that it has: 1.17.1, 1.16.1; ":                                  cilium(),
		"chart steward 0.4.0 is not at " + dir + ": set another version":                                                        steward(),
		"manifest gateway-api v1.2.1 is not at " + filepath.Join(dir, "gateway-api-v1.2.1.yaml"):                                gateway(),
		"core-components.yaml of cluster-api v1.9.4 is not at " + filepath.Join(dir, "cluster-api/v1.9.4/core-components.yaml"): capi(t),
	} {
		var missing *Absent
		if err := refusal(t, s, a, given); !errors.As(err, &missing) || !strings.HasPrefix(err.Error(), what) {
			t.Errorf("error is\n%v, not\n%s", err, what)
		}
	}
	outside := gateway()
	outside.Version = "/../../secret"
	put(t, filepath.Dir(dir), "secret.yaml", []byte(gatewayFile))
	refusal(t, s, outside, nil)
}

func TestABrokenChartInADirectory(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "cilium/Chart.yaml", []byte("name: ["))
	if err := refusal(t, inDirectory(t, dir), cilium(), nil); !strings.Contains(err.Error(), "chart cilium 1.17.0 cannot be fetched from "+dir) {
		t.Error(err)
	}
}

func TestWhatIsSavedCanBeFetched(t *testing.T) {
	w, a, dir := newFixture(t), capi(t), filepath.Join(t.TempDir(), "new")
	w.offer(chartArchive(t, "cilium", "1.17.0"), "")
	w.pushChart(t, stewardAt, "0.4.0", "steward", "0.4.0")
	w.files[gatewayAt] = []byte(gatewayFile)
	w.release(a, releaseFiles{})
	upstream := w.source(t, "")
	addons := []addon.Addon{cilium(), steward(), gateway(), a}
	before := map[string]Content{}
	for _, a := range append(addons, carriedAddon("butler-crds"), addon.Addon{Source: addon.Source{Kind: addon.Objects}}) {
		if err := upstream.Save(t.Context(), a, dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range addons {
		before[a.Key] = fetched(t, upstream, a, given)
	}
	saved := inDirectory(t, dir)
	for _, a := range addons {
		c := fetched(t, saved, a, given)
		if c.Digest != before[a.Key].Digest || !cmp.Equal(c.Objects, before[a.Key].Objects) {
			t.Errorf("%s is not what it was upstream", a.Key)
		}
		if !strings.Contains(c.Origin, dir) {
			t.Errorf("%s came from %s", a.Key, c.Origin)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "*.part"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestWhatCannotBeFetchedIsNotSaved(t *testing.T) {
	w, dir := newFixture(t), t.TempDir()
	w.offer(chartArchive(t, "calico", "1.17.0"), "")
	for _, a := range []addon.Addon{cilium(), steward(), gateway(), capi(t)} {
		if err := w.source(t, "").Save(t.Context(), a, dir); err == nil {
			t.Errorf("%s was saved", a.Key)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		t.Errorf("saved: %v, %v", entries, err)
	}
}

func TestPlacesThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	put(t, filepath.Dir(file), "file", nil)
	for charts, want := range map[string]string{
		"https://user:hunter2@charts.example.com/": "charts cannot come from an address that begins with https://: " + allowed,
		"s3://bucket": "charts cannot come from an address that begins with s3://: " + allowed,
		"oci://user:hunter2@registry.example.com": "credentials or a digest in its address",
		"oci://":                                "is not the address of a registry: " + allowed,
		"oci://registry.example.com/charts:1.0": "is not the address of a registry: " + allowed,
		"oci://registry.example.com/UPPER":      "is not the address of a registry: " + allowed,
		"oci://Bad_Host!/charts":                "is not the address of a registry: " + allowed,
		file:                                    "which is not a directory: " + allowed,
		file + "-missing":                       "which does not exist: " + allowed,
	} {
		_, err := New(Options{Charts: charts})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", charts, err)
		}
	}
	for _, charts := range []string{"", Upstream, "oci://registry.example.com", "oci://registry.example.com:5000/a/b/", t.TempDir()} {
		if _, err := New(Options{Charts: charts}); err != nil {
			t.Errorf("%s: %v", charts, err)
		}
	}
}
