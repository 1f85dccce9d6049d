// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// TestTheSeedHasTheImageOfTheManifest under a version, where the manifest wants the newest.
func TestTheSeedHasTheImageOfTheManifest(t *testing.T) {
	for urn, want := range map[string]string{"maker:talos:x64:latest": "1.9.2", "maker:talos:x64:1.0.0": "1.0.0"} {
		s := Seed{}
		s.seedImages(urn, v1alpha1.TalosSpec{Version: "v1.9.2"})
		if len(s.Images) != 1 || s.Images[0].Version != want || s.Images[0].Publisher != "maker" {
			t.Errorf("%s: %+v", urn, s.Images)
		}
	}
}
