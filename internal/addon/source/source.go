// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package source brings addons in: charts, manifests and the components of
// Cluster API providers, from their own places or from where the user redirects
// them to. TLS is verified everywhere, and what was fetched has a checksum.
package source

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/butlerdotdev/butler/internal/addon"
)

// Upstream leaves every addon with its own source.
const Upstream = "upstream"

// Options say where addons come from.
type Options struct {
	// Charts is Upstream, a directory, or the address of a registry that begins
	// with oci://; empty means Upstream.
	Charts string
	// Carried holds the charts of this project, one directory each.
	Carried fs.FS
	// HTTP carries every byte that is fetched; nil is the ordinary network with
	// the proxy of the environment.
	HTTP *http.Client
	// StandIns says that HTTP reaches stand-ins, which have checksums of their own.
	StandIns bool
}

// Source fetches addons. It is safe for concurrent use.
type Source struct {
	carried  fs.FS
	place    place
	registry string
}

// Variables are what a provider's components are completed with.
type Variables func(addon.Provider) (map[string]string, error)

// Content is an addon that was fetched. It has a chart or objects; what is made
// by this program itself has neither.
type Content struct {
	Chart *chart.Chart
	// Objects of a manifest or of components, in the order in which to apply them.
	Objects []*unstructured.Unstructured
	// Origin says where it came from, for people.
	Origin string
	// Digest is the checksum of what was fetched, such as sha256:0a1b…; empty
	// where nothing was.
	Digest string
}

// place is where files come from. Its errors are those that Fetch returns.
type place interface {
	// chart returns the archive of a chart.
	chart(context.Context, addon.Addon) (file, error)
	// manifest returns a file of objects.
	manifest(context.Context, addon.Addon) (file, error)
	// component returns a file of a provider's release.
	component(ctx context.Context, a addon.Addon, p addon.Provider, name string) (file, error)
}

// file is what a place has handed out.
type file struct {
	data   []byte
	origin string // for people
	digest string
}

// New refuses a place that cannot be one, such as a directory that is missing.
func New(o Options) (*Source, error) {
	p, err := placeOf(o, newClient(o.HTTP))
	if err != nil {
		return nil, err
	}
	s := &Source{carried: o.Carried, place: p}
	if _, ok := p.(mirror); ok {
		s.registry = o.Charts
	}
	return s, nil
}

// Registry is the address that addons come from, if that is a registry, which
// others reach as well; empty means another place.
func (s *Source) Registry() string { return s.registry }

// Fetch downloads one addon. Its error names the place, says why, and how to
// redirect it.
func (s *Source) Fetch(ctx context.Context, a addon.Addon, v Variables) (Content, error) {
	switch a.Source.Kind {
	case addon.ChartRepository, addon.ChartOCI:
		return s.chart(ctx, a)
	case addon.ChartCarried:
		return carriedChart(s.carried, a)
	case addon.Manifest:
		return s.manifest(ctx, a)
	case addon.Components:
		return s.components(ctx, a, v)
	case addon.Objects:
		return Content{}, nil
	}
	return Content{}, fmt.Errorf("addon %s has a source of an unknown kind %q", a.Key, a.Source.Kind)
}
