// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// layer is a layer in memory.
type layer struct {
	compressed     []byte
	digest, diffID v1.Hash
}

// newLayer returns a layer with files. The order is that of the files.
func newLayer(files []File) (v1.Layer, error) {
	plain, err := Tar(files)
	if err != nil {
		return nil, err
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err = w.Write(plain); err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, err
	}
	l := &layer{compressed: zipped.Bytes()}
	if l.diffID, _, err = v1.SHA256(bytes.NewReader(plain)); err != nil {
		return nil, err
	}
	l.digest, _, err = v1.SHA256(bytes.NewReader(l.compressed))
	return l, err
}

// Tar returns an archive with files that have no times but the beginning of Unix time.
func Tar(files []File) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range files {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.Name, Mode: f.Mode, Size: int64(len(f.Content)),
			ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR,
		}
		if f.IsDir() {
			header.Typeflag = tar.TypeDir
		}
		err := w.WriteHeader(header)
		if err == nil {
			_, err = w.Write(f.Content)
		}
		if err != nil {
			return nil, fmt.Errorf("write %s into a layer: %w", f.Name, err)
		}
	}
	return out.Bytes(), w.Close()
}

// Digest implements v1.Layer.
func (l *layer) Digest() (v1.Hash, error) { return l.digest, nil }

// DiffID implements v1.Layer.
func (l *layer) DiffID() (v1.Hash, error) { return l.diffID, nil }

// Compressed implements v1.Layer.
func (l *layer) Compressed() (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(l.compressed)), nil
}

// Uncompressed implements v1.Layer.
func (l *layer) Uncompressed() (io.ReadCloser, error) {
	return gzip.NewReader(bytes.NewReader(l.compressed))
}

// Size implements v1.Layer.
func (l *layer) Size() (int64, error) { return int64(len(l.compressed)), nil }

// MediaType implements v1.Layer.
func (l *layer) MediaType() (types.MediaType, error) { return types.OCILayer, nil }
