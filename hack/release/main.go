// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command release completes a directory with the executables and images of a release: archives,
// bills of materials, charts, Homebrew formula, notes and checksums. Nothing is published. The
// same commit gives the same files.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/butlerdotdev/butler/internal/image"
)

// program is what users download.
const program = "butleradm"

// release is a directory that is completed.
type release struct {
	image.Release

	dir string
	// build has the executables, one directory such as linux-amd64 each.
	build string
	// digests of images by name.
	digests map[string]string
}

func main() {
	r := release{}
	var date, digests string
	flag.StringVar(&r.dir, "dist", "dist", "`DIR` of the release")
	flag.StringVar(&r.build, "build", "", "`DIR` with the executables")
	flag.StringVar(&r.Version, "version", "", "version of the release")
	flag.StringVar(&r.Commit, "commit", "", "commit of the release")
	flag.StringVar(&date, "date", "", "date of the commit")
	flag.StringVar(&digests, "digests", "", "digests of the images, as NAME=sha256:…,…")
	flag.Parse()
	r.Date, _ = time.Parse(time.RFC3339, date) // without git there is none
	r.digests = map[string]string{}
	for entry := range strings.SplitSeq(digests, ",") {
		if name, digest, ok := strings.Cut(entry, "="); ok {
			r.digests[name] = digest
		}
	}
	if err := r.complete(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func (r release) complete() error {
	platforms, err := r.platforms()
	if err != nil {
		return err
	}
	for _, p := range platforms {
		if err := r.writeArchive(p); err != nil {
			return err
		}
		if err := r.writeSBOM(p); err != nil {
			return err
		}
	}
	for _, step := range []func() error{r.writeCharts, func() error { return r.writeFormula(platforms) }, r.writeNotes, r.writeChecksums} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// platforms returns those that there is an executable for.
func (r release) platforms() ([]v1.Platform, error) {
	found, err := filepath.Glob(filepath.Join(r.build, "*-*", program))
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("there is no %s in %s", program, r.build)
	}
	var out []v1.Platform
	for _, path := range found {
		system, arch, _ := strings.Cut(filepath.Base(filepath.Dir(path)), "-")
		out = append(out, v1.Platform{OS: system, Architecture: arch})
	}
	return out, err
}

func (r release) executable(p v1.Platform) string {
	return filepath.Join(r.build, p.OS+"-"+p.Architecture, program)
}

// name is that of the files of a platform, without an extension.
func (r release) name(p v1.Platform) string {
	return strings.Join([]string{program, r.Version, p.OS, p.Architecture}, "-")
}

func (r release) write(name string, data []byte) error {
	to := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

func (r release) writeSBOM(p v1.Platform) error {
	data, err := image.SBOM(image.Program{Name: program, Path: r.executable(p), Platform: p}, r.Release)
	if err != nil {
		return err
	}
	return r.write(r.name(p)+".spdx.json", data)
}
