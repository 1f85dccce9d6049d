// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"fmt"

	"github.com/siderolabs/talos/pkg/machinery/config"
)

const (
	imageFactory    = "factory.talos.dev"
	defaultPlatform = "metal"
)

// InstallImage returns the image factory's installer for a schematic. Up to
// Talos 1.9 there is one for all platforms; later ones are named after the
// platform (metal, nocloud, aws, …; empty: metal).
func InstallImage(platform, schematic, talosVersion string) (string, error) {
	contract, err := versionContract(talosVersion)
	if err != nil {
		return "", err
	}
	if schematic == "" {
		return "", fmt.Errorf("install image of talos %s: the schematic is missing", talosVersion)
	}
	if platform == "" {
		platform = defaultPlatform
	}
	name := "installer"
	if contract.Greater(config.TalosVersion1_9) {
		name = platform + "-installer"
	}
	return fmt.Sprintf("%s/%s/%s:%s", imageFactory, name, schematic, talosVersion), nil
}
