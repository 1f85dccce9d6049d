// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import "github.com/butlerdotdev/butler/internal/sim/datacenter"

// mode is what Talos runs on, as far as it matters for its configuration.
type mode struct {
	platform string
	cloud    bool // the image is installed, and the configuration needs no disk
}

// modeOf returns metal for machines whose image is for no other platform.
func modeOf(m datacenter.Machine) mode {
	switch {
	case m.Metadata != nil:
		return mode{platform: m.Metadata.Platform, cloud: true}
	case m.ImagePlatform != "":
		return mode{platform: m.ImagePlatform, cloud: true}
	}
	return mode{platform: "metal"}
}

func (m mode) String() string {
	if m.cloud {
		return "cloud"
	}
	return "metal"
}

func (m mode) RequiresInstall() bool { return !m.cloud }
func (mode) InContainer() bool       { return false }
