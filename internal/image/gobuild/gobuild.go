// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package gobuild compiles the programs of this project, as `make build` does, for images.
package gobuild

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/butlerdotdev/butler/internal/image"
)

// CLI is the program of the command line; the others are controllers.
const CLI = "butleradm"

// Repository is a copy of this project's repository, with what compiles it.
type Repository struct {
	dir string
	// Progress gets what the compiler reports.
	Progress io.Writer
}

var moduleLine = regexp.MustCompile(`(?m)^module github\.com/butlerdotdev/butler$`)

// Open refuses a directory that is not the repository, and a machine without Go and make.
func Open(dir string) (*Repository, error) {
	const otherwise = "a release has the images as one file, which butleradm images push takes with --from"
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !moduleLine.Match(data) {
		return nil, fmt.Errorf("images are compiled from the repository of Butler, and %s is not one: name it with --repository; %s", dir, otherwise)
	}
	if err != nil {
		return nil, err
	}
	for _, tool := range []string{"go", "make"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, fmt.Errorf("images are compiled with Go and make, and there is no %s in PATH: install it; %s", tool, otherwise)
		}
	}
	return &Repository{dir: dir, Progress: io.Discard}, nil
}

// Programs returns the names of the programs in the order of the alphabet.
func (r *Repository) Programs() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(r.dir, "cmd"))
	if err != nil {
		return nil, fmt.Errorf("list the programs: %w", err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// Controllers returns the names of the programs without the CLI.
func (r *Repository) Controllers() ([]string, error) {
	all, err := r.Programs()
	return slices.DeleteFunc(all, func(name string) bool { return name == CLI }), err
}

// Release returns what the Makefile knows of the commit.
func (r *Repository) Release(ctx context.Context) (image.Release, error) {
	var out bytes.Buffer
	if err := r.make(ctx, &out, "release-info"); err != nil {
		return image.Release{}, err
	}
	words := strings.Fields(out.String())
	if len(words) != 3 {
		return image.Release{}, fmt.Errorf("make release-info printed %q, not version, commit and date", out.String())
	}
	release := image.Release{Version: words[0], Commit: words[1]}
	if date, err := time.Parse(time.RFC3339, words[2]); err == nil {
		release.Date = date // without git there is none
	}
	return release, nil
}

// Build compiles programs for one platform into a directory.
func (r *Repository) Build(ctx context.Context, names []string, platform v1.Platform, to string) ([]image.Program, error) {
	to, err := filepath.Abs(to)
	if err != nil {
		return nil, err
	}
	err = r.make(ctx, r.Progress, "build", "BINARIES="+strings.Join(names, " "), "BIN="+to, "GOOS="+platform.OS, "GOARCH="+platform.Architecture)
	var out []image.Program
	for _, name := range names {
		out = append(out, image.Program{Name: name, Path: filepath.Join(to, name), Platform: platform})
	}
	return out, err
}

func (r *Repository) make(ctx context.Context, out io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, "make", append([]string{"--silent", "--no-print-directory", "-C", r.dir}, args...)...)
	// MAKEFLAGS would hand down the targets and variables of an outer make.
	cmd.Env = append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL=")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, io.MultiWriter(&said, r.Progress)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("make %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(said.String()))
	}
	return nil
}
