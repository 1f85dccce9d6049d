// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"github.com/butlerdotdev/butler/internal/image/imagetest"
)

// TestAReleaseIsCompleted with what its checksums list, and with charts that Helm loads.
func TestAReleaseIsCompleted(t *testing.T) {
	t.Chdir("../..")
	r := release{Release: imagetest.Release(), dir: t.TempDir(), build: t.TempDir(), digests: map[string]string{"butler-controller": "sha256:" + strings.Repeat("a", 64)}}
	for _, p := range imagetest.Small(t, program, "amd64", "arm64") {
		dir := filepath.Join(r.build, "linux-"+p.Platform.Architecture)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(p.Path, filepath.Join(dir, program)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.complete(); err != nil {
		t.Fatal(err)
	}
	files := map[string]bool{}
	err := fs.WalkDir(os.DirFS(r.dir), ".", func(name string, d fs.DirEntry, err error) error {
		files[filepath.Base(name)] = !d.IsDir()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"butleradm-v1.2.3-linux-amd64.tar.gz", "butleradm-v1.2.3-linux-arm64.tar.gz", "butleradm-v1.2.3-linux-amd64.spdx.json",
		"butleradm.rb", "notes.md", "checksums.txt", "butler-crds-1.2.3.tgz",
	} {
		if !files[want] {
			t.Errorf("%s is missing", want)
		}
	}
	sums, err := os.ReadFile(filepath.Join(r.dir, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if listed := strings.Count(string(sums), "\n"); listed != len(files)-3 { // ".", charts and checksums.txt itself
		t.Errorf("%d checksums for %v", listed, files)
	}
	checkChart(t, filepath.Join(r.dir, "charts", "butler-controller-1.2.3.tgz"))
}

func checkChart(t *testing.T, path string) {
	t.Helper()
	c, err := loader.LoadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	image, _ := c.Values["image"].(map[string]any)
	if c.Metadata.Version != "1.2.3" || c.Metadata.AppVersion != "v1.2.3" || image["digest"] != "sha256:"+strings.Repeat("a", 64) {
		t.Errorf("chart %s %s with image %v", c.Metadata.Version, c.Metadata.AppVersion, image)
	}
}
