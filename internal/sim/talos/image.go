// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"regexp"

	"github.com/siderolabs/talos/pkg/machinery/config"
)

var (
	versionInName   = regexp.MustCompile(`v[0-9]+\.[0-9]+\.[0-9]+`)
	schematicInName = regexp.MustCompile(`[0-9a-f]{64}`)
)

// image is what a machine was booted from, as far as the image's name says it. A node
// of an image without a version in its name runs what its configuration installs, and
// says nothing about itself before.
type image struct{ version, schematic string }

func imageNamed(name string) image {
	return image{version: versionInName.FindString(name), schematic: schematicInName.FindString(name)}
}

// showsVersion reports whether the Talos of the image has a resource with its version.
func (i image) showsVersion() bool {
	contract, err := config.ParseContractFromVersion(i.version)
	return err == nil && contract.Greater(config.TalosVersion1_9)
}
