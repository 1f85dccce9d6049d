// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package talostest is what tests of Talos clusters share.
package talostest

import (
	"sync"

	"github.com/butlerdotdev/butler/internal/talos"
)

// Version is the one of Talos that the keys of NewSecrets are for.
const Version = "v1.9.2"

var secrets = sync.OnceValues(func() ([]byte, error) { return talos.NewSecrets(Version) })

// NewSecrets returns the same keys for every cluster of Version: to generate them takes
// more than a second of a core.
func NewSecrets(talosVersion string) ([]byte, error) {
	if talosVersion == Version {
		return secrets()
	}
	return talos.NewSecrets(talosVersion)
}
