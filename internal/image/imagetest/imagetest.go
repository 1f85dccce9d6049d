// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package imagetest compiles a small program that tests make images of.
package imagetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/butlerdotdev/butler/internal/image"
)

// Release is what the images of tests are labelled with.
func Release() image.Release {
	return image.Release{Version: "v1.2.3", Commit: "0123456789ab", Date: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
}

// Small compiles a small program for architectures, in a directory of its own.
func Small(t *testing.T, name string, architectures ...string) (out []image.Program) {
	t.Helper()
	dir := t.TempDir()
	for _, arch := range architectures {
		path := filepath.Join(dir, arch, name)
		cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", path,
			"github.com/butlerdotdev/butler/internal/image/testdata/small")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		out = append(out, image.Program{Name: name, Path: path, Platform: v1.Platform{OS: "linux", Architecture: arch}})
	}
	return out
}

// Set returns the image of a small program for one architecture.
func Set(t *testing.T, name string) image.Set {
	t.Helper()
	s, err := image.NewSet(name, Small(t, name, "amd64"), Release())
	if err != nil {
		t.Fatal(err)
	}
	return s
}
