// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"strconv"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// sku is an entry of the location's catalogue; further capabilities are name=value.
func sku(name string, cpu, memoryGB int, zones string, further ...string) *armcompute.ResourceSKU {
	s := &armcompute.ResourceSKU{Name: &name, Family: new("family"), ResourceType: new("virtualMachines")}
	all := []string{"vCPUs=" + strconv.Itoa(cpu), "MemoryGB=" + strconv.Itoa(memoryGB), "PremiumIO=True", "HyperVGenerations=V1,V2", "CpuArchitectureType=x64", "MaxDataDiskCount=8"}
	for _, c := range append(all, further...) {
		k, v, _ := strings.Cut(c, "=")
		s.Capabilities = append(s.Capabilities, &armcompute.ResourceSKUCapabilities{Name: &k, Value: &v})
	}
	s.LocationInfo = []*armcompute.ResourceSKULocationInfo{{Zones: pointers(strings.Fields(zones))}}
	return s
}

func restricted(s *armcompute.ResourceSKU, zones ...string) *armcompute.ResourceSKU {
	r := &armcompute.ResourceSKURestrictions{Type: new(armcompute.ResourceSKURestrictionsTypeLocation), ReasonCode: new(armcompute.ResourceSKURestrictionsReasonCodeNotAvailableForSubscription)}
	if len(zones) > 0 {
		r.Type, r.RestrictionInfo = new(armcompute.ResourceSKURestrictionsTypeZone), &armcompute.ResourceSKURestrictionInfo{Zones: pointers(zones)}
	}
	s.Restrictions = append(s.Restrictions, r)
	return s
}

func TestTheSmallestSizeIsChosen(t *testing.T) {
	catalogue := []*armcompute.ResourceSKU{
		sku("Standard_B4ms", 4, 16, "1 2 3"),
		sku("Standard_A4_v2", 4, 16, "1 2 3"),
		sku("Standard_D4s_v2", 4, 16, "1 2 3"),
		sku("Standard_DC4s_v3", 4, 16, "1 2 3"),
		sku("Standard_NC4as_T4_v3", 4, 16, "1 2 3"),
		sku("Standard_E8-4s_v5", 8, 16, "1 2 3", "vCPUsAvailable=4"),
		sku("Standard_D4s_v6", 4, 16, "1 2 3", "DiskControllerTypes=NVMe"),
		sku("Standard_D4_v5", 4, 16, "1 2 3", "PremiumIO=False"),
		sku("Standard_D4ds_v5", 4, 16, "1 2 3", "MaxResourceVolumeMB=153600"),
		sku("Standard_D4s_v4", 4, 16, "1 2 3"),
		restricted(sku("Standard_D4s_v5", 4, 16, "1 2 3"), "3"),
		sku("Standard_D4as_v5", 4, 16, "1 2"),
		sku("Standard_D4ps_v5", 4, 16, "1 2 3", "CpuArchitectureType=Arm64"),
		restricted(sku("Standard_D4ls_v5", 4, 8, "1 2 3")),
		sku("Standard_F4s_v2", 4, 8, "1 2 3"),
		sku("Standard_E4s_v5", 4, 32, "1 2 3"),
		sku("Standard_D8s_v5", 8, 32, "1 2 3", "MaxDataDiskCount=16"),
		sku("Standard_D2s_v3", 2, 8, "1 2 3", "HyperVGenerations=V1"),
	}
	var sizes []size
	for _, s := range catalogue {
		sizes = append(sizes, sizeOf(s))
	}
	for name, c := range map[string]struct {
		demand
		zone, want string
	}{
		"general purpose, newest, without a local disk": {demand{4, 16384, 0, archX64, "V2"}, "1", "Standard_D4s_v5"},
		"the zone does not offer it":                    {demand{4, 16384, 0, archX64, "V2"}, "3", "Standard_D4s_v4"},
		"less memory, and another restricted":           {demand{4, 8192, 0, archX64, "V2"}, "1", "Standard_F4s_v2"},
		"more memory":                                   {demand{3, 20000, 0, archX64, "V2"}, "1", "Standard_E4s_v5"},
		"more disks than most take":                     {demand{4, 16384, 12, archX64, "V2"}, "1", "Standard_D8s_v5"},
		"arm":                                           {demand{4, 8192, 0, archArm64, "V2"}, "1", "Standard_D4ps_v5"},
		"the first generation":                          {demand{2, 4096, 0, archX64, "V1"}, "1", "Standard_D2s_v3"},
		"not of the first generation alone":             {demand{2, 4096, 0, archX64, "V2"}, "1", "Standard_F4s_v2"},
		"too large":                                     {demand{64, 4096, 0, archX64, "V2"}, "1", ""},
		"no zone":                                       {demand{4, 16384, 0, archX64, "V2"}, "", "Standard_D4s_v5"},
	} {
		got, found := choose(sizes, c.demand, c.zone)
		if got.Name != c.want || found != (c.want != "") {
			t.Errorf("%s: %s, want %s", name, got.Name, c.want)
		}
	}
}

func TestTheNameOfASizeSaysItsFamily(t *testing.T) {
	for name, want := range map[string]family{
		"Standard_D4s_v5": {"D", false, 5}, "Standard_DS2_v2": {"D", false, 2}, "Standard_E8-4s_v5": {"E", true, 5}, "Standard_NC4as_T4_v3": {"NC", false, 3},
		"Standard_M8ms": {"M", false, 1}, "Standard_F4s_v2": {"F", false, 2}, "Standard_DC2s_v3": {"DC", false, 3}, "Basic_A1": {"A", false, 1}, "other": {"other", false, 0},
	} {
		if got := familyOf(name); got != want {
			t.Errorf("%s is %+v, want %+v", name, got, want)
		}
	}
}

func TestNamedSizesAreChecked(t *testing.T) {
	sizes := []size{sizeOf(sku("Standard_B2s", 2, 4, "1")), sizeOf(restricted(sku("Standard_D4s_v5", 4, 16, "1")))}
	for name, c := range map[string]struct {
		size   string
		cpu    int32
		reason string
	}{
		"a burstable one that is named": {"standard_b2s", 2, ""},
		"too small":                     {"Standard_B2s", 4, provider.ReasonInstanceTypeTooSmall},
		"unknown":                       {"Standard_X9", 2, provider.ReasonInstanceTypeNotFound},
		"restricted":                    {"Standard_D4s_v5", 2, provider.ReasonInstanceTypeNotFound},
	} {
		p := &platform{spec: v1alpha1.AzureSpec{VMSize: c.size}}
		_, err := p.named(sizes, demand{c.cpu, 1024, 0, archX64, "V2"})
		if (err == nil) != (c.reason == "") || err != nil && provider.ReasonOf(err) != c.reason {
			t.Errorf("%s: %v", name, err)
		}
	}
}
