// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"testing"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

func someSizes() (all []cloud.Size) {
	for _, t := range []struct {
		name        string
		cpu, memory int32
		shared      bool
	}{
		{"e2-medium", 2, 4096, true}, {"e2-standard-2", 2, 8192, false}, {"e2-standard-4", 4, 16384, false}, {"e2-highcpu-8", 8, 8192, false},
		{"n2-standard-4", 4, 16384, false}, {"n2-highmem-4", 4, 32768, false}, {"n2d-standard-4", 4, 16384, false}, {"n1-standard-1", 1, 3840, false},
		{"f1-micro", 1, 614, true}, {"n4-standard-4", 4, 16384, false}, {"t2a-standard-4", 4, 16384, false}, {"c3-standard-4", 4, 16384, false},
	} {
		all = append(all, sizeOf(&computepb.MachineType{Name: &t.name, GuestCpus: &t.cpu, MemoryMb: &t.memory, IsSharedCpu: &t.shared}))
	}
	return all
}

// TestTheSmallestTypeIsChosen has the documented order: predefined before custom, without
// shared processors, E2 first, and only series whose disks are found by name.
func TestTheSmallestTypeIsChosen(t *testing.T) {
	for name, c := range map[string]struct {
		cpu, memory  int32
		architecture string
		series       string
		want         string
	}{
		"E2 before N2":                          {4, 16384, x86, "", "e2-standard-4"},
		"no shared and no old type":             {1, 512, x86, "", "e2-standard-2"},
		"the architecture of the image":         {2, 2048, arm, "", "t2a-standard-4"},
		"more memory than standard":             {4, 20000, x86, "", "n2-highmem-4"},
		"a series of the settings":              {4, 16384, x86, "n2d", "n2d-standard-4"},
		"a series that is named only":           {4, 16384, x86, "n4", "n4-standard-4"},
		"not the shared types of the old one":   {1, 512, x86, "n1", "n1-standard-1"},
		"custom, as no predefined one fits":     {12, 8192, x86, "", "e2-custom-12-8192"},
		"custom with processors for the memory": {2, 100000, x86, "", "e2-custom-14-100096"},
		"custom of a larger series":             {34, 65536, x86, "", "n2-custom-36-65536"},
		"custom, least memory":                  {16, 1024, x86, "", "e2-custom-16-8192"},
		"custom of the series":                  {6, 30000, x86, "n2d", "n2d-custom-8-30208"},
		"no custom type of arm64":               {64, 1024, arm, "", ""},
		"nothing is large enough":               {500, 1024, x86, "", ""},
	} {
		sizes := ofSeries(someSizes(), c.series)
		best, err := catalogue().Smallest(sizes, provider.MachineSpec{CPU: c.cpu, MemoryMB: c.memory}, c.architecture, "z")
		if err != nil {
			best, _ = customSize(sizes, c.cpu, c.memory, c.architecture)
		}
		if best.Name != c.want {
			t.Errorf("%s: %q, want %q", name, best.Name, c.want)
		}
	}
}

func TestSeriesAndQuotas(t *testing.T) {
	for name, want := range map[string][3]string{
		"e2-standard-4": {"e2", "CPUS", "pd-balanced"}, "n2-custom-4-16384": {"n2", "N2_CPUS", "pd-balanced"}, "custom-2-4096": {"n1", "CPUS", "pd-balanced"},
		"c4-standard-8": {"c4", "C4_CPUS", "hyperdisk-balanced"}, "f1-micro": {"n1", "CPUS", "pd-balanced"},
	} {
		series := seriesOf(name)
		if got := [3]string{series, quotaOf(cloud.Size{Family: series}), diskType(series)}; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
