// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import "github.com/butlerdotdev/butler/internal/sim/datacenter"

// mode is what Talos runs on, as far as it matters for its configuration.
type mode struct {
	platform string
	cloud    bool // the image is installed, and the configuration needs no disk
}

// modeOf returns metal for machines without the metadata service of a cloud.
func modeOf(m datacenter.Machine) mode {
	if m.Metadata == nil {
		return mode{platform: "metal"}
	}
	return mode{platform: m.Metadata.Platform, cloud: true}
}

func (m mode) String() string {
	if m.cloud {
		return "cloud"
	}
	return "metal"
}

func (m mode) RequiresInstall() bool { return !m.cloud }
func (mode) InContainer() bool       { return false }
