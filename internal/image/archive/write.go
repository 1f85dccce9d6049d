// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"

	"github.com/butlerdotdev/butler/internal/image"
)

// Writer writes images to a directory, or to a file whose name ends with .tar. What is there
// is replaced when everything is written.
type Writer struct {
	to, part string
	path     layout.Path
	version  string
}

// NewWriter begins an archive. It refuses to replace anything but another one.
func NewWriter(to, version string) (*Writer, error) {
	if err := replaceable(to); err != nil {
		return nil, err
	}
	w := &Writer{to: to, part: to + ".part", version: version}
	if err := os.RemoveAll(w.part); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return nil, err
	}
	var err error
	w.path, err = layout.Write(w.part, empty.Index)
	return w, err
}

func replaceable(to string) error {
	info, err := os.Stat(to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case IsFile(to) && info.Mode().IsRegular():
		return nil
	}
	entries, err := os.ReadDir(to)
	if err != nil {
		return fmt.Errorf("images are written to a directory or to a .tar file: %w", err)
	}
	if _, err := os.Stat(filepath.Join(to, "oci-layout")); err != nil && len(entries) > 0 {
		return fmt.Errorf("directory %s has other files, and no images: name an empty one, or a .tar file", to)
	}
	return nil
}

// Add writes an image and what is attached to it.
func (w *Writer) Add(s image.Set) (v1.Hash, error) {
	annotations := map[string]string{nameKey: s.Name, versionKey: w.version, refKey: s.Name + ":" + w.version}
	if err := w.path.AppendIndex(s.Index, layout.WithAnnotations(annotations)); err != nil {
		return v1.Hash{}, err
	}
	for _, a := range s.Attached {
		if err := w.path.AppendImage(a, layout.WithAnnotations(map[string]string{nameKey: s.Name})); err != nil {
			return v1.Hash{}, err
		}
	}
	return s.Index.Digest()
}

// Close puts the archive in its place.
func (w *Writer) Close() error {
	if !IsFile(w.to) {
		if err := os.RemoveAll(w.to); err != nil {
			return err
		}
		return os.Rename(w.part, w.to)
	}
	packed := w.part + suffix
	defer os.Remove(packed)
	if err := pack(w.part, packed); err != nil {
		return err
	}
	if err := os.Rename(packed, w.to); err != nil {
		return err
	}
	return os.RemoveAll(w.part)
}

// Discard removes what was written.
func (w *Writer) Discard() error { return os.RemoveAll(w.part) }
