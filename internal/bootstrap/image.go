// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// versionInName finds a version in the name of an image, as in talos-v1.9.2 or, where
// dots are not allowed, talos-v1-9-2.
var versionInName = regexp.MustCompile(`v([0-9]+)[.-]([0-9]+)[.-]([0-9]+)`)

// ImageWarnings are about an image whose name has another version than the spec asks
// for. A name is no proof: the machines themselves are asked before they matter.
func ImageWarnings(spec v1alpha1.ClusterBootstrapSpec, config v1alpha1.ProviderConfigSpec) []string {
	name := config.Image()
	found := versionInName.FindStringSubmatch(name)
	if found == nil {
		return nil
	}
	version := "v" + strings.Join(found[1:], ".")
	if version == spec.Talos.Version {
		return nil
	}
	return []string{fmt.Sprintf("image %s seems to be of Talos %s, and spec.talos.version is %s: machines of another version are refused", name, version, spec.Talos.Version)}
}
