// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"github.com/butlerdotdev/butler/internal/addon"
)

func (s *Source) chart(ctx context.Context, a addon.Addon) (Content, error) {
	f, err := s.place.chart(ctx, a)
	if err != nil {
		return Content{}, err
	}
	c, err := load(a, f)
	if err != nil {
		return Content{}, err
	}
	without(c, a.Source.WithoutCRDs)
	return Content{Chart: c, Origin: f.origin, Digest: f.digest}, nil
}

// load reads an archive and makes sure that it is the chart that was wanted.
func load(a addon.Addon, f file) (*chart.Chart, error) {
	c, err := loader.LoadArchive(bytes.NewReader(f.data))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s from %s is not a chart: %w", chartOf(a), f.origin, err)
	case c.Name() != a.Source.Chart || !same(c.Metadata.Version, a.Version):
		return nil, fmt.Errorf("%s is required, but %s has chart %s %s: it is not installed", chartOf(a), f.origin, c.Name(), c.Metadata.Version)
	}
	return c, nil
}

// without takes files out of a chart.
func without(c *chart.Chart, names []string) {
	named := func(f *common.File) bool { return slices.Contains(names, f.Name) }
	c.Files = slices.DeleteFunc(c.Files, named)
	c.Raw = slices.DeleteFunc(c.Raw, named)
}
