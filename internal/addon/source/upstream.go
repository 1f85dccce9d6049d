// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"strings"

	"github.com/butlerdotdev/butler/internal/addon"
)

// upstream is where the makers of the addons publish them.
type upstream struct {
	client   *client
	indexes  *shelf
	standIns bool
}

func (u upstream) chart(ctx context.Context, a addon.Addon) (file, error) {
	if a.Source.Kind == addon.ChartOCI {
		return pulledChart(ctx, u.client, strings.TrimPrefix(a.Source.URL, ociScheme), a)
	}
	return u.download(ctx, a)
}

func (u upstream) manifest(ctx context.Context, a addon.Addon) (file, error) {
	address := strings.ReplaceAll(a.Source.URL, "%s", a.Version)
	return u.get(ctx, a, manifestOf(a), address)
}

func (u upstream) component(ctx context.Context, a addon.Addon, p addon.Provider, name string) (file, error) {
	return u.get(ctx, a, componentOf(p, name), p.Download(name))
}

func (u upstream) get(ctx context.Context, a addon.Addon, what, address string) (file, error) {
	data, err := u.client.get(ctx, address)
	if err != nil {
		return file{}, failed(a, what, address, err)
	}
	return file{data, address, digest(data)}, nil
}

func chartOf(a addon.Addon) string    { return fmt.Sprintf("chart %s %s", a.Source.Chart, a.Version) }
func manifestOf(a addon.Addon) string { return fmt.Sprintf("manifest %s %s", a.Key, a.Version) }

func componentOf(p addon.Provider, name string) string {
	return fmt.Sprintf("%s of %s %s", name, label(p), p.Version)
}
