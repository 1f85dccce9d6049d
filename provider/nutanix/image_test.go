// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"fmt"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// TestTheImageOfAVersionIsOneForThePlatform: those for others would not boot, or not read
// their user data. The later of two images in a row is the newer one.
func TestTheImageOfAVersionIsOneForThePlatform(t *testing.T) {
	for name, c := range map[string]struct {
		images []string
		want   string
		says   string
	}{
		"the platform first":  {[]string{"talos-v1.9.2-openstack-amd64", "talos-v1.9.2"}, "talos-v1.9.2-openstack-amd64", ""},
		"the newest":          {[]string{"talos-v1.9.2-a", "Talos v1.9.2 b"}, "Talos v1.9.2 b", ""},
		"the schematic first": {[]string{"talos-v1.9.2-5ca1ab1e", "talos-v1.9.2-openstack-amd64"}, "talos-v1.9.2-5ca1ab1e", ""},
		"no other platform":   {[]string{"talos-v1.9.2", "talos-v1.9.2-nocloud-amd64", "talos-aws-v1.9.2", "talos_v1.9.2_metal"}, "talos-v1.9.2", ""},
		"no other machine":    {[]string{"talos-v1.9.2-openstack-amd64", "talos-v1.9.2-openstack-arm64"}, "talos-v1.9.2-openstack-amd64", ""},
		"others alone": {
			[]string{"talos-v1.9.2-openstack-arm64", "talos-v1.9.2-nocloud-amd64", "talos-v1.9.20-openstack-amd64"}, "",
			"whose name has talos and v1.9.2; talos-v1.9.2-nocloud-amd64 is for nocloud; talos-v1.9.2-openstack-arm64 is for arm64;",
		},
		"none": {nil, "", "there is no image for OpenStack and amd64 whose name has talos and v1.9.2;"},
	} {
		var entities []string
		for i, n := range c.images {
			entities = append(entities, fmt.Sprintf(`{"metadata":{"uuid":"%d","creation_time":"2026-01-0%dT00:00:00Z"},"status":{"name":%q,"state":"COMPLETE","resources":{"image_type":"DISK_IMAGE"}}}`, i, i+1, n))
		}
		s, _ := server(t, answers{"POST /images/list": {fmt.Sprintf(`200 {"metadata":{"total_matches":%d},"entities":[%s]}`, len(entities), strings.Join(entities, ","))}})
		got, err := newPlatform(api(t, s), v1alpha1.NutanixSpec{}, "nutanix-prod").imageFor(t.Context(), provider.MachineSpec{TalosVersion: talosVersion, Schematic: "5ca1ab1e"})
		if got.name != c.want || (err == nil) != (c.says == "") {
			t.Errorf("%s: %q, %v", name, got.name, err)
		}
		if err != nil && (!strings.Contains(err.Error(), c.says) || provider.ReasonOf(err) != provider.ReasonImageNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
