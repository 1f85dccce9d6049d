// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package image makes OCI images of this project's programs, without a container
// engine. The same executable gives the same bytes: no times, no order of a file
// system, nothing of the machine is in an image.
package image

import (
	"fmt"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// The user of the process, and the path of its executable.
const (
	user       = "65532:65532"
	Entrypoint = "/butler"
	source     = "https://github.com/butlerdotdev/butler"
)

// Release is what images are labelled with.
type Release struct {
	Version, Commit string
	// Date of the commit; the zero value is the beginning of Unix time.
	Date time.Time
}

// Program is an executable for one platform.
type Program struct {
	// Name of the program and of its image.
	Name string
	// Path of the executable.
	Path string
	// Platform that it is for.
	Platform v1.Platform
}

// New returns the image of a program: a layer that all images share, and one with the
// executable.
func New(p Program, r Release) (v1.Image, error) {
	files, err := Files(p.Path)
	if err != nil {
		return nil, fmt.Errorf("image of %s: %w", p.Name, err)
	}
	last := len(files) - 1
	base, err := newLayer(files[:last])
	if err != nil {
		return nil, err
	}
	own, err := newLayer(files[last:])
	if err != nil {
		return nil, err
	}
	image, err := mutate.Append(
		mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON),
		mutate.Addendum{Layer: base, History: history(r, "user, directories and certificates")},
		mutate.Addendum{Layer: own, History: history(r, p.Name)},
	)
	if err != nil {
		return nil, err
	}
	file, err := config(image, p, r)
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(image, file)
}

func history(r Release, what string) v1.History {
	return v1.History{Created: v1.Time{Time: r.created()}, CreatedBy: "butleradm images build: " + what}
}

func (r Release) created() time.Time {
	if r.Date.IsZero() {
		return time.Unix(0, 0).UTC()
	}
	return r.Date.UTC()
}

// config returns the configuration of an image that has all its layers.
func config(image v1.Image, p Program, r Release) (*v1.ConfigFile, error) {
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Variant = p.Platform.OS, p.Platform.Architecture, p.Platform.Variant
	file.Created = v1.Time{Time: r.created()}
	file.Config = v1.Config{
		User:       user,
		Entrypoint: []string{Entrypoint},
		WorkingDir: "/",
		Env:        []string{"PATH=/", "HOME=/home/nonroot", "SSL_CERT_FILE=/" + certificatesPath},
		Labels:     Labels(p.Name, r),
	}
	return file, nil
}

// Labels returns the labels of an image, which are the annotations of its index too.
func Labels(name string, r Release) map[string]string {
	const prefix = "org.opencontainers.image."
	return map[string]string{
		prefix + "title":    name,
		prefix + "version":  r.Version,
		prefix + "revision": r.Commit,
		prefix + "created":  r.created().Format(time.RFC3339),
		prefix + "source":   source,
		prefix + "url":      source,
		prefix + "licenses": "Apache-2.0",
		prefix + "vendor":   "The Butler Authors",
	}
}
