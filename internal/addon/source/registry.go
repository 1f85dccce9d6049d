// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/butlerdotdev/butler/internal/addon"
)

// The types of the layer that has a chart.
const (
	chartLayer       = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	legacyChartLayer = "application/tar+gzip"
)

// pulledChart takes a chart from its repository in a registry.
func pulledChart(ctx context.Context, c *client, repository string, a addon.Addon) (file, error) {
	isChart := func(layers []ocispec.Descriptor) (ocispec.Descriptor, error) {
		for _, l := range layers {
			if l.MediaType == chartLayer || l.MediaType == legacyChartLayer {
				return l, nil
			}
		}
		return ocispec.Descriptor{}, errors.New("the artifact under this name is not a chart")
	}
	return pulled(ctx, c, repository, a, order{chartOf(a), a.Version, isChart})
}

// order is what is wanted of a repository in a registry.
type order struct {
	what, version string
	layer         func([]ocispec.Descriptor) (ocispec.Descriptor, error)
}

// pulled takes one layer of an artifact. A registry's checksums are its names,
// so that what comes is what was asked for.
func pulled(ctx context.Context, c *client, repository string, a addon.Addon, o order) (file, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	origin := ociScheme + repository
	r, err := remote.NewRepository(repository)
	if err != nil {
		return file{}, failed(a, o.what, origin, errors.New("its address cannot be read"))
	}
	r.Client = &auth.Client{Client: c.http, Cache: auth.NewCache()}
	layers, tag, err := layersOf(ctx, r, o.version)
	if errors.Is(err, errAbsent) {
		return file{}, &Absent{Addon: a.Key, What: o.what, Origin: origin, Nearest: nearest(tagsOf(ctx, r), o.version)}
	}
	if err != nil {
		return file{}, failed(a, o.what, origin, err)
	}
	layer, err := o.layer(layers)
	if err != nil {
		return file{}, failed(a, o.what, origin+":"+tag, err)
	}
	data, err := blob(ctx, r, layer)
	if err != nil {
		return file{}, failed(a, o.what, origin+":"+tag, err)
	}
	return file{data, origin + ":" + tag, digest(data)}, nil
}

// layersOf are those of the artifact with a version, and the tag that it has.
func layersOf(ctx context.Context, r *remote.Repository, version string) ([]ocispec.Descriptor, string, error) {
	for _, spelling := range spellings(version) {
		// A tag may not have a plus.
		tag := strings.ReplaceAll(spelling, "+", "_")
		layers, err := tagged(ctx, r, tag)
		if !errors.Is(err, errAbsent) {
			return layers, tag, err
		}
	}
	return nil, "", errAbsent
}

// largestManifest is how long a description of an artifact may be. The registry says
// how long it is, and that much memory is taken.
const largestManifest = 4 << 20

func tagged(ctx context.Context, r *remote.Repository, tag string) ([]ocispec.Descriptor, error) {
	desc, body, err := r.FetchReference(ctx, tag)
	if err != nil {
		return nil, steady(err)
	}
	defer body.Close()
	if desc.MediaType != ocispec.MediaTypeImageManifest {
		return nil, fmt.Errorf("the artifact there is of type %s, not a single artifact", desc.MediaType)
	}
	if desc.Size > largestManifest {
		return nil, tooLarge(largestManifest)
	}
	data, err := content.ReadAll(body, desc)
	if err != nil {
		return nil, steady(err)
	}
	var m ocispec.Manifest
	if json.Unmarshal(data, &m) != nil {
		return nil, errors.New("its description of the artifact cannot be read")
	}
	return m.Layers, nil
}

func blob(ctx context.Context, r *remote.Repository, layer ocispec.Descriptor) ([]byte, error) {
	if layer.Size > largest {
		return nil, tooLarge(largest)
	}
	data, err := content.FetchAll(ctx, r.Blobs(), layer)
	if err != nil {
		return nil, steady(err)
	}
	return data, nil
}

// tagsOf serves a message only: where they cannot be had, it goes without.
func tagsOf(ctx context.Context, r *remote.Repository) (versions []string) {
	_ = r.Tags(ctx, "", func(tags []string) error {
		for _, t := range tags {
			versions = append(versions, strings.ReplaceAll(t, "_", "+"))
		}
		return nil
	})
	return versions
}
