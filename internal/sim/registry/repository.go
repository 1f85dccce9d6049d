// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/internal/sim/standin"
)

// created is when all charts were made: a date that never changes.
const created = "2026-01-01T00:00:00Z"

// repository is an HTTP repository of charts.
type repository struct{ entries []entry }

// entry is one chart in one version.
type entry struct {
	chart   *standin.Chart
	file    string
	archive func() ([]byte, error)
	addon   string
}

func (r *repository) add(e entry) { r.entries = append(r.entries, e) }

// item is the repository's index.
func (r *repository) item() *item {
	var addons []string
	for _, e := range r.entries {
		if !slices.Contains(addons, e.addon) {
			addons = append(addons, e.addon)
		}
	}
	return &item{addons: addons, mediaType: "text/yaml", content: once(r.index)}
}

func (r *repository) index() ([]byte, error) {
	charts := map[string][]any{}
	for _, e := range r.entries {
		archive, err := e.archive()
		if err != nil {
			return nil, err
		}
		charts[e.chart.Name] = append(charts[e.chart.Name], map[string]any{
			"apiVersion": "v2", "name": e.chart.Name, "version": e.chart.Version, "appVersion": e.chart.AppVersion,
			"description": e.chart.Description, "created": created, "digest": sum(archive), "urls": []string{e.file},
		})
	}
	out, err := yaml.Marshal(map[string]any{"apiVersion": "v1", "entries": charts, "generated": created})
	if err != nil {
		return nil, fmt.Errorf("write the index of a chart repository: %w", err)
	}
	return out, nil
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}
