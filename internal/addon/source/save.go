// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/butlerdotdev/butler/internal/addon"
)

// Save writes what Fetch would fetch into a directory, as Options.Charts reads
// it. What the program carries or makes itself needs no saving.
func (s *Source) Save(ctx context.Context, a addon.Addon, dir string) error {
	switch a.Source.Kind {
	case addon.ChartRepository, addon.ChartOCI:
		return s.saveChart(ctx, a, dir)
	case addon.Manifest:
		return s.saveManifest(ctx, a, dir)
	case addon.Components:
		return s.saveComponents(ctx, a, dir)
	case addon.ChartCarried, addon.Objects:
	}
	return nil
}

func (s *Source) saveChart(ctx context.Context, a addon.Addon, dir string) error {
	f, err := s.place.chart(ctx, a)
	if err != nil {
		return err
	}
	c, err := load(a, f)
	if err != nil {
		return err
	}
	return write(dir, archiveName(c.Name(), c.Metadata.Version), f.data)
}

func (s *Source) saveManifest(ctx context.Context, a addon.Addon, dir string) error {
	f, err := s.place.manifest(ctx, a)
	if err != nil {
		return err
	}
	return write(dir, manifestName(a), f.data)
}

func (s *Source) saveComponents(ctx context.Context, a addon.Addon, dir string) error {
	releases, err := s.releases(ctx, a)
	if err != nil {
		return err
	}
	for _, r := range releases {
		if err := write(dir, componentName(r.Provider, r.File), r.components.data); err != nil {
			return err
		}
		if err := write(dir, componentName(r.Provider, metadataFile), r.metadata.data); err != nil {
			return err
		}
	}
	return nil
}

// write puts a file in its place when it is whole.
func write(dir, name string, data []byte) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("save %q: its version cannot be part of a file name", name)
	}
	to := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("save addons: %w", err)
	}
	temporary := to + ".part"
	defer os.Remove(temporary)
	if err := os.WriteFile(temporary, data, 0o644); err != nil {
		return fmt.Errorf("save addons: %w", err)
	}
	if err := os.Rename(temporary, to); err != nil {
		return fmt.Errorf("save addons: %w", err)
	}
	return nil
}
