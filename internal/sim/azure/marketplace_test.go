// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure_test

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"

	"github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/internal/sim/cloud/cloudtest"
)

func TestPlansOfTheMarketplace(t *testing.T) {
	f := start(t, azure.Seed{Images: []azure.Image{
		{Name: "talos"}, {Publisher: "maker", Offer: "os", Name: "free", Version: "1.0.0"},
		{Publisher: "maker", Offer: "os", Name: "sold", Version: "1.0.0", Plan: true}, {Publisher: "maker", Offer: "os", Name: "new", Version: "1.0.0", Plan: true, Unaccepted: true},
	}})
	f.createNIC(t, "one")
	vms := f.compute.NewVirtualMachinesClient()
	for what, c := range map[string]struct{ sku, plan, want string }{
		"no plan":            {"sold", "", "400 VMMarketplaceInvalidInput"},
		"another plan":       {"sold", "new", "400 VMMarketplaceInvalidInput"},
		"a plan for nothing": {"free", "free", "400 VMMarketplaceInvalidInput"},
		"terms":              {"new", "new", "400 ResourcePurchaseValidationFailed"},
	} {
		_, err := vms.BeginCreateOrUpdate(t.Context(), "example", "one", machine("one", market(c.sku, c.plan)), nil)
		expect(t, what, err, c.want)
	}
	got := f.run(t, "one", market("sold", "sold"))
	if got.Plan == nil || *got.Plan.Product != "os" || *got.Properties.StorageProfile.ImageReference.ExactVersion != "1.0.0" {
		t.Errorf("%+v", got)
	}
	all, err := f.compute.NewVirtualMachineImagesClient().List(t.Context(), "westeurope", "maker", "os", "sold", &armcompute.VirtualMachineImagesClientListOptions{Top: new(int32(1)), Orderby: new("size")})
	if err == nil {
		t.Errorf("%d versions in no order", len(all.VirtualMachineImageResourceArray))
	}
	one, err := f.compute.NewVirtualMachineImagesClient().Get(t.Context(), "westeurope", "maker", "os", "sold", "1.0.0", nil)
	cloudtest.Must(t, err)
	if p := one.Properties.Plan; p == nil || *p.Name != "sold" || *p.Publisher != "maker" {
		t.Errorf("%+v", p)
	}
}

// market has a machine be created from an image of the marketplace.
func market(sku, plan string) func(*armcompute.VirtualMachine) {
	return func(v *armcompute.VirtualMachine) {
		v.Properties.StorageProfile.ImageReference = &armcompute.ImageReference{Publisher: new("maker"), Offer: new("os"), SKU: &sku, Version: new("latest")}
		if plan != "" {
			v.Plan = &armcompute.Plan{Name: &plan, Product: new("os"), Publisher: new("maker")}
		}
	}
}
