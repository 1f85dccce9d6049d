// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package examples carries the example manifests, which butleradm init begins with.
package examples

import (
	"embed"
	"fmt"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

//go:embed *-ha.yaml *-single-node.yaml
var files embed.FS

// Manifest returns the example of a provider and a topology.
func Manifest(p v1alpha1.ProviderType, t v1alpha1.Topology) ([]byte, error) {
	name := fmt.Sprintf("%s-%s.yaml", p, t)
	data, err := files.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("there is no example %s", name)
	}
	return data, nil
}
