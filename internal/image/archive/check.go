// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"fmt"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// check compares everything that an index refers to with its digest and its size.
func check(dir string, index v1.ImageIndex) error {
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	for _, d := range manifest.Manifests {
		if err := checkManifest(dir, index, d); err != nil {
			return err
		}
	}
	return nil
}

func checkManifest(dir string, in v1.ImageIndex, d v1.Descriptor) error {
	if err := checkBlob(dir, d); err != nil {
		return err
	}
	if d.MediaType.IsIndex() {
		index, err := in.ImageIndex(d.Digest)
		if err != nil {
			return err
		}
		return check(dir, index)
	}
	image, err := in.Image(d.Digest)
	if err != nil {
		return err
	}
	manifest, err := image.Manifest()
	if err != nil {
		return fmt.Errorf("manifest %s: %w", d.Digest, err)
	}
	for _, part := range append(manifest.Layers, manifest.Config) {
		if err := checkBlob(dir, part); err != nil {
			return err
		}
	}
	return nil
}

func checkBlob(dir string, d v1.Descriptor) error {
	file, err := os.Open(filepath.Join(dir, "blobs", d.Digest.Algorithm, d.Digest.Hex))
	if err != nil {
		return fmt.Errorf("content %s is missing: %w", d.Digest, err)
	}
	defer file.Close()
	digest, size, err := v1.SHA256(file)
	switch {
	case err != nil:
		return err
	case digest != d.Digest || size != d.Size:
		return fmt.Errorf("content %s is damaged: it has digest %s and %d bytes, not %d; download or build the images again", d.Digest, digest, size, d.Size)
	}
	return nil
}
