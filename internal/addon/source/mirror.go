// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/butlerdotdev/butler/internal/addon"
)

// mirror is a registry that has everything: charts as Helm pushes them, and the
// files of manifests and components as layers under their names, as ORAS does.
type mirror struct {
	base   string // registry and path, without a scheme
	client *client
}

func (m mirror) chart(ctx context.Context, a addon.Addon) (file, error) {
	return pulledChart(ctx, m.client, m.base+"/"+a.Source.Chart, a)
}

func (m mirror) manifest(ctx context.Context, a addon.Addon) (file, error) {
	return pulled(ctx, m.client, m.base+"/"+a.Key, a, order{manifestOf(a), a.Version, only})
}

func (m mirror) component(ctx context.Context, a addon.Addon, p addon.Provider, name string) (file, error) {
	return pulled(ctx, m.client, m.base+"/"+label(p), a, order{componentOf(p, name), p.Version, titled(name)})
}

func only(layers []ocispec.Descriptor) (ocispec.Descriptor, error) {
	if len(layers) != 1 {
		return ocispec.Descriptor{}, errors.New("it must have one file there, and no other")
	}
	return layers[0], nil
}

func titled(name string) func([]ocispec.Descriptor) (ocispec.Descriptor, error) {
	return func(layers []ocispec.Descriptor) (ocispec.Descriptor, error) {
		for _, l := range layers {
			if l.Annotations[ocispec.AnnotationTitle] == name {
				return l, nil
			}
		}
		return ocispec.Descriptor{}, errAbsent
	}
}
