// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
)

// pack makes a chart's archive: always the same bytes of the same files.
func pack(name string, files map[string][]byte) ([]byte, error) {
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		content := files[file]
		header := &tar.Header{Name: path.Join(name, file), Mode: 0o644, Size: int64(len(content)), Typeflag: tar.TypeReg}
		if err := archive.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("pack %s: %w", header.Name, err)
		}
		if _, err := archive.Write(content); err != nil {
			return nil, fmt.Errorf("pack %s: %w", header.Name, err)
		}
	}
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		return nil, fmt.Errorf("pack %s: %w", name, err)
	}
	return out.Bytes(), nil
}
