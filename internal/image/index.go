// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"encoding/json"
	"errors"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// emptyConfig is the type of the configuration of an artifact that has none.
const emptyConfig = types.MediaType("application/vnd.oci.empty.v1+json")

// Set is the image of a program for all its platforms, and what is attached to it.
type Set struct {
	Name  string
	Index v1.ImageIndex
	// Attached are bills of materials, each with an image of the index as its subject.
	Attached []v1.Image
}

// NewSet returns the image of a program from its executables, one for each platform.
func NewSet(name string, programs []Program, r Release) (Set, error) {
	s := Set{Name: name, Index: mutate.IndexMediaType(empty.Index, types.OCIImageIndex)}
	for _, p := range programs {
		image, err := New(p, r)
		if err != nil {
			return s, err
		}
		subject, err := partial.Descriptor(image)
		if err != nil {
			return s, err
		}
		subject.Platform = &p.Platform
		bill, err := attachedSBOM(p, r, *subject)
		if err != nil {
			return s, err
		}
		s.Index = mutate.AppendManifests(s.Index, mutate.IndexAddendum{Add: image, Descriptor: *subject})
		s.Attached = append(s.Attached, bill)
	}
	annotated, ok := mutate.Annotations(s.Index, Labels(name, r)).(v1.ImageIndex)
	if !ok {
		return s, errors.New("the library returned no index for an index")
	}
	s.Index = annotated
	return s, nil
}

func attachedSBOM(p Program, r Release, subject v1.Descriptor) (v1.Image, error) {
	content, err := SBOM(p, r)
	if err != nil {
		return nil, err
	}
	subject.Platform = nil // of a subject only type, digest and size count
	return newArtifact(SPDXType, content, subject)
}

// artifact is a manifest with one blob, about a subject. The library has no way to set the
// type of an artifact, so its manifest is this package's own.
type artifact struct {
	manifest []byte
	blob     v1.Layer
}

func newArtifact(kind types.MediaType, content []byte, subject v1.Descriptor) (v1.Image, error) {
	blob := static.NewLayer(content, kind)
	layer, err := partial.Descriptor(blob)
	if err != nil {
		return nil, err
	}
	config, err := partial.Descriptor(static.NewLayer([]byte("{}"), emptyConfig))
	if err != nil {
		return nil, err
	}
	manifest, err := json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, ArtifactType: string(kind),
		Config: *config, Layers: []v1.Descriptor{*layer}, Subject: &subject,
	})
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(&artifact{manifest, blob})
}

// RawManifest implements partial.CompressedImageCore.
func (a *artifact) RawManifest() ([]byte, error) { return a.manifest, nil }

// RawConfigFile implements partial.CompressedImageCore.
func (a *artifact) RawConfigFile() ([]byte, error) { return []byte("{}"), nil }

// MediaType implements partial.CompressedImageCore.
func (a *artifact) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

// LayerByDigest implements partial.CompressedImageCore.
func (a *artifact) LayerByDigest(v1.Hash) (partial.CompressedLayer, error) { return a.blob, nil }
