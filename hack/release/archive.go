// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/butlerdotdev/butler/internal/image"
)

// writeArchive packs the executable of a platform with the licence and the examples.
func (r release) writeArchive(p v1.Platform) error {
	executable, err := os.ReadFile(r.executable(p))
	if err != nil {
		return err
	}
	files := []image.File{{Name: program, Mode: 0o755, Content: executable}}
	others, err := filepath.Glob("configs/examples/*.yaml")
	if err != nil {
		return err
	}
	for _, from := range append([]string{"LICENSE", "README.md"}, others...) {
		content, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		name := from
		if path.Dir(from) != "." {
			name = "examples/" + path.Base(from)
		}
		files = append(files, image.File{Name: name, Mode: 0o644, Content: content})
	}
	data, err := packed(files)
	if err != nil {
		return err
	}
	return r.write(r.name(p)+".tar.gz", data)
}

// packed is a compressed archive without times.
func packed(files []image.File) ([]byte, error) {
	plain, err := image.Tar(files)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err = w.Write(plain); err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}
