// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func TestTheNameOfAnImageMayWarnOfItsVersion(t *testing.T) {
	harvester := func(name string) v1alpha1.ProviderConfigSpec {
		return v1alpha1.ProviderConfigSpec{Harvester: &v1alpha1.HarvesterSpec{ImageName: name}}
	}
	for reason, tc := range map[string]struct {
		config v1alpha1.ProviderConfigSpec
		want   string // nothing: no warning
	}{
		"the same":         {harvester("default/talos-v1.9.2"), ""},
		"no version":       {harvester("default/image-5rs6d"), ""},
		"no image":         {v1alpha1.ProviderConfigSpec{AWS: &v1alpha1.AWSSpec{}}, ""},
		"another":          {harvester("default/talos-v1.12.0"), "image default/talos-v1.12.0 seems to be of Talos v1.12.0, and spec.talos.version is v1.9.2"},
		"without dots":     {v1alpha1.ProviderConfigSpec{GCP: &v1alpha1.GCPSpec{Image: "images/talos-v1-9-3"}}, "Talos v1.9.3"},
		"name of template": {v1alpha1.ProviderConfigSpec{Proxmox: &v1alpha1.ProxmoxSpec{Template: "talos-v1.8.4"}}, "Talos v1.8.4"},
	} {
		got := strings.Join(ImageWarnings(spec(), tc.config), "\n")
		if got != tc.want && (tc.want == "" || !strings.Contains(got, tc.want)) {
			t.Errorf("%s: %q", reason, got)
		}
	}
}
