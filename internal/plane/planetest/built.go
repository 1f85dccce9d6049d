// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package planetest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// built is an executable in the cache, beside the list of the directories of its sources. To
// ask go whether it is up to date takes seconds of each package.
type built struct {
	path, root string
}

func (b built) list() string { return b.path + ".sources" }

// fresh reports whether the executable is newer than everything it is made of. It looks at all
// of it: go test reuses an old result unless a file has changed that the test itself saw.
func (b built) fresh() bool {
	executable, err := os.Stat(b.path)
	if err != nil {
		return false
	}
	sources, err := os.ReadFile(b.list())
	fresh := err == nil
	for path := range strings.FieldsSeq(string(sources)) {
		fresh = older(path, executable.ModTime()) && fresh
	}
	return fresh
}

// older reports whether a file is older than a time; a directory with all that is in it.
func older(path string, t time.Time) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	is := info.ModTime().Before(t)
	if !info.IsDir() {
		return is
	}
	files, err := os.ReadDir(path)
	for _, f := range files {
		info, err := os.Stat(filepath.Join(path, f.Name()))
		is = err == nil && info.ModTime().Before(t) && is
	}
	return is && err == nil
}

// build links the executable and records its sources. Its age is that of the sources it has:
// what changes during the build makes it outdated.
func (b built) build(ctx context.Context, pkg, flags string) error {
	began := time.Now()
	if _, err := goOutput(ctx, "build", "-ldflags", flags, "-o", b.path, pkg); err != nil {
		return err
	}
	files, err := goOutput(ctx, "list", "-deps", "-f", ofModule, pkg)
	if err != nil {
		return err
	}
	sources := []string{filepath.Join(b.root, "go.mod"), filepath.Join(b.root, "go.sum")}
	for file := range strings.FieldsSeq(files) {
		sources = append(sources, filepath.Dir(file))
	}
	slices.Sort(sources)
	if err := os.WriteFile(b.list(), []byte(strings.Join(slices.Compact(sources), "\n")), 0o600); err != nil {
		return err
	}
	return os.Chtimes(b.path, began, began)
}

// ofModule is a template for go list: one file of each directory of this module that a package
// is made of, and all embedded ones.
const ofModule = `{{if .Module}}{{if .Module.Main}}{{.Dir}}/{{index .GoFiles 0}}{{range .EmbedFiles}} {{$.Dir}}/{{.}}{{end}}{{end}}{{end}}`
