// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"strings"
	"testing"

	sim "github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/provider"
)

// market are images of the marketplace with a plan, in an order that is not that of their
// versions.
func market(name string, unaccepted bool) (all []sim.Image) {
	for _, version := range []string{"1.9.2", "1.10.0", "1.9.20"} {
		all = append(all, sim.Image{Publisher: "maker", Offer: "talos", Name: name, Version: version, Plan: true, Unaccepted: unaccepted})
	}
	return all
}

// TestAMachineFromTheMarketplaceHasThePlanAndTheNewestVersion of the image.
func TestAMachineFromTheMarketplaceHasThePlanAndTheNewestVersion(t *testing.T) {
	f := newFixture(t, sim.Seed{Images: market("x64", false)})
	p := f.connected(t, func(c *provider.Config) { c.Spec.Azure.ImageURN = "maker:talos:x64:latest" })
	s := cluster()[2]
	f.created(t, p, s)
	vm, err := f.admin.vms.Get(t.Context(), f.admin.spec.ResourceGroup, s.Name, nil)
	if err != nil {
		t.Fatal(err)
	}
	if image := vm.Properties.StorageProfile.ImageReference; value(image.Version) != "1.10.0" || vm.Plan == nil || value(vm.Plan.Name) != "x64" || value(vm.Plan.Product) != "talos" {
		t.Errorf("version %s, plan %+v", value(image.Version), vm.Plan)
	}
}

func TestTermsOfTheMarketplaceAreReported(t *testing.T) {
	f := newFixture(t, sim.Seed{Images: market("x64", true)})
	p := f.connected(t, func(c *provider.Config) { c.Spec.Azure.ImageURN = "maker:talos:x64:1.9.2" })
	_, err := p.Machines.Create(t.Context(), cluster()[2])
	if provider.KindOf(err) != provider.Unauthorized || !strings.Contains(err.Error(), "az vm image terms accept") {
		t.Errorf("%v", err)
	}
}

func TestUnknownImagesOfTheMarketplaceAreRefused(t *testing.T) {
	f := newFixture(t, sim.Seed{Images: market("x64", false)})
	for urn, reason := range map[string]string{
		"maker:talos:x64:1.0.0": provider.ReasonImageNotFound, "maker:talos:other:latest": provider.ReasonImageNotFound, "maker:talos:x64": provider.ReasonImageInvalid,
	} {
		_, err := f.connected(t, func(c *provider.Config) { c.Spec.Azure.ImageURN = urn }).Plan(t.Context(), cluster()[2], provider.Attempt{})
		if provider.ReasonOf(err) != reason {
			t.Errorf("%s: %v", urn, err)
		}
	}
}
