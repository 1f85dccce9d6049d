// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"testing"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

func TestNamesOfImages(t *testing.T) {
	for text, want := range map[string]reference{
		"talos":                                   {"mine", "talos", false, true},
		"projects/p/global/images/i":              {"p", "i", false, false},
		"global/images/i":                         {"mine", "i", false, false},
		"projects/p/global/images/family/f":       {"p", "f", true, false},
		"https://x/v1/projects/p/global/images/i": {"p", "i", false, false},
	} {
		if got, err := referenceOf(text, "mine"); got != want || err != nil {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"projects/p/zones/z/images/i", "projects/p/global/images/", "projects/p/global/images/a/b"} {
		if _, err := referenceOf(text, "mine"); provider.ReasonOf(err) != provider.ReasonImageInvalid {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestTheImageOfTheSchematicComesFirst, then the newest.
func TestTheImageOfTheSchematicComesFirst(t *testing.T) {
	const schematic = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"
	image := func(name, description, created string) *computepb.Image {
		return &computepb.Image{Name: &name, Description: &description, CreationTimestamp: &created}
	}
	plain, newer := image("talos-v1-9-2", "", "2026-01-01"), image("talos-v1-9-2-b", "", "2026-02-01")
	described, named := image("talos-v1-9-2-c", "of "+schematic, "2025-01-01"), image("talos-v1-9-2-ce4c980550dd", "", "2025-01-01")
	for name, c := range map[string]struct {
		a, b *computepb.Image
		want bool
	}{
		"the newest": {newer, plain, true}, "the oldest": {plain, newer, false}, "by its description": {described, newer, true}, "by its name": {named, newer, true},
	} {
		if better(c.a, c.b, schematic) != c.want {
			t.Error(name)
		}
	}
}

func TestImagesThatCannotBeUsed(t *testing.T) {
	for state, want := range map[string]string{"PENDING": provider.ReasonImageNotReady, "FAILED": provider.ReasonImageBroken, "DELETING": provider.ReasonImageBroken} {
		if err := usable(&computepb.Image{Status: &state}); provider.ReasonOf(err) != want {
			t.Errorf("%s: %v", state, err)
		}
	}
	if err := usable(&computepb.Image{Deprecated: &computepb.DeprecationStatus{State: new("OBSOLETE")}}); provider.ReasonOf(err) != provider.ReasonImageBroken {
		t.Error(err)
	}
	if err := usable(&computepb.Image{Status: new("READY"), Deprecated: &computepb.DeprecationStatus{State: new("DEPRECATED")}}); err != nil {
		t.Error(err)
	}
}

func TestTheImageOfTheSettings(t *testing.T) {
	family := v1alpha1.GCPSpec{ProjectID: "mine", ImageFamily: "talos"}
	shared := family
	shared.ImageProject = "theirs"
	named := family
	named.Image = "projects/p/global/images/i"
	for want, p := range map[string]*platform{
		"projects/mine/global/images/family/talos": {spec: family}, "projects/theirs/global/images/family/talos": {spec: shared}, "projects/p/global/images/i": {spec: named},
	} {
		if got := p.wanted(provider.MachineSpec{}); got != want {
			t.Errorf("image %q, want %q", got, want)
		}
		if got := p.wanted(provider.MachineSpec{Image: "own"}); got != "own" {
			t.Errorf("image %q of a request that has its own", got)
		}
	}
}

func TestAPublicAddressIsAskedFor(t *testing.T) {
	for _, public := range []bool{false, true} {
		m := machines{&platform{spec: v1alpha1.GCPSpec{PublicIP: public}}}
		if got := m.nic(attempt{}, &computepb.Subnetwork{}).GetAccessConfigs(); (len(got) == 1) != public {
			t.Errorf("public %t: %v", public, got)
		}
	}
}
