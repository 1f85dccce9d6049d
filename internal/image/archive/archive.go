// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package archive keeps images in one directory or file, as an OCI image layout: all images
// of a release, and what is attached to them. What is read from one is checked against its
// digests first.
package archive

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

const (
	// nameKey is the annotation with the name of the image that a manifest belongs to.
	nameKey = "butler.butlerlabs.dev/image"
	// refKey is the annotation that other programs find an image by.
	refKey = "org.opencontainers.image.ref.name"
	// versionKey is the annotation with the version of an image.
	versionKey = "org.opencontainers.image.version"
	suffix     = ".tar"
)

// IsFile reports whether a path is that of a layout in one file.
func IsFile(path string) bool { return strings.HasSuffix(path, suffix) }

// Image is an image of an archive.
type Image struct {
	Name, Version string
	// Digest of the index with the images of all platforms.
	Digest v1.Hash
	Index  v1.ImageIndex
	// Attached are manifests that have an image of the index as their subject.
	Attached []v1.Image
}

// Archive is a layout that was checked.
type Archive struct {
	Images []Image
	remove string // a directory of this archive alone
}

// Close removes what was unpacked.
func (a *Archive) Close() error {
	if a.remove == "" {
		return nil
	}
	return os.RemoveAll(a.remove)
}

// Open reads a directory or a .tar file, and refuses one in which content is missing or
// differs from its digest. The archive has to be closed.
func Open(path string) (*Archive, error) {
	a := &Archive{}
	dir := path
	if IsFile(path) {
		temporary, err := os.MkdirTemp("", "butler-images-")
		if err != nil {
			return nil, fmt.Errorf("unpack the images: %w", err)
		}
		a.remove, dir = temporary, temporary
		if err := unpack(path, temporary); err != nil {
			return nil, errors.Join(fmt.Errorf("unpack the images of %s: %w", path, err), a.Close())
		}
	}
	if err := a.read(dir); err != nil {
		return nil, errors.Join(fmt.Errorf("read the images of %s: %w", path, err), a.Close())
	}
	return a, nil
}

func (a *Archive) read(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "oci-layout")); err != nil {
		return errors.New("it is not an OCI layout: butleradm images build writes one, and a release has one")
	}
	p, err := layout.FromPath(dir)
	if err != nil {
		return err
	}
	index, err := p.ImageIndex()
	if err != nil {
		return err
	}
	if err := check(dir, index); err != nil {
		return err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	for _, d := range manifest.Manifests {
		if err := a.add(index, d); err != nil {
			return err
		}
	}
	if len(a.Images) == 0 {
		return errors.New("there are none")
	}
	return nil
}

// add takes the image of a descriptor, or what is attached to an image before it.
func (a *Archive) add(in v1.ImageIndex, d v1.Descriptor) error {
	name := d.Annotations[nameKey]
	switch {
	case name == "":
		return fmt.Errorf("manifest %s has no annotation %s", d.Digest, nameKey)
	case d.MediaType.IsIndex():
		index, err := in.ImageIndex(d.Digest)
		a.Images = append(a.Images, Image{Name: name, Version: d.Annotations[versionKey], Digest: d.Digest, Index: index})
		return err
	}
	i := slices.IndexFunc(a.Images, func(i Image) bool { return i.Name == name })
	if i < 0 {
		return fmt.Errorf("manifest %s belongs to image %s, which is not there", d.Digest, name)
	}
	attached, err := in.Image(d.Digest)
	a.Images[i].Attached = append(a.Images[i].Attached, attached)
	return err
}
