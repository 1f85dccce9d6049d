// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	x86 = "X86_64"
	arm = "ARM64"
)

// family is the machine types of a series that differ in size only.
type family struct {
	series, shape string // such as n2 and standard
	cpus          []int
	perCPU        float64 // memory in GB
	quota         string  // the metric of its processors
	arch          string
	zones         string // in which it is offered, by their last letter; empty: all
	hyperdisk     bool   // takes no other disks
	nvme          bool   // disks are NVMe devices
	accelerator   string
}

func families() []family {
	small := []int{2, 4, 8, 16, 32}
	return []family{
		{series: "e2", shape: "standard", cpus: small, perCPU: 4, quota: "CPUS", arch: x86},
		{series: "e2", shape: "highmem", cpus: small[:4], perCPU: 8, quota: "CPUS", arch: x86},
		{series: "e2", shape: "highcpu", cpus: small, perCPU: 1, quota: "CPUS", arch: x86},
		{series: "n1", shape: "standard", cpus: []int{1, 2, 4, 8, 16, 32, 64, 96}, perCPU: 3.75, quota: "CPUS", arch: x86},
		{series: "n1", shape: "highmem", cpus: []int{2, 4, 8, 16, 32, 64, 96}, perCPU: 6.5, quota: "CPUS", arch: x86},
		{series: "n2", shape: "standard", cpus: []int{2, 4, 8, 16, 32, 48, 64, 80, 96, 128}, perCPU: 4, quota: "N2_CPUS", arch: x86},
		{series: "n2", shape: "highmem", cpus: []int{2, 4, 8, 16, 32, 48, 64, 80, 96, 128}, perCPU: 8, quota: "N2_CPUS", arch: x86},
		{series: "n2", shape: "highcpu", cpus: []int{2, 4, 8, 16, 32, 48, 64, 80, 96}, perCPU: 1, quota: "N2_CPUS", arch: x86},
		{series: "n2d", shape: "standard", cpus: []int{2, 4, 8, 16, 32, 48, 64, 96, 128, 224}, perCPU: 4, quota: "N2D_CPUS", arch: x86},
		{series: "t2d", shape: "standard", cpus: []int{1, 2, 4, 8, 16, 32, 48, 60}, perCPU: 4, quota: "T2D_CPUS", arch: x86, zones: "bc"},
		{series: "c2", shape: "standard", cpus: []int{4, 8, 16, 30, 60}, perCPU: 4, quota: "C2_CPUS", arch: x86},
		{series: "c3", shape: "standard", cpus: []int{4, 8, 22, 44, 88, 176}, perCPU: 4, quota: "C3_CPUS", arch: x86, zones: "bc", nvme: true},
		{series: "n4", shape: "standard", cpus: []int{2, 4, 8, 16, 32, 48, 64, 80}, perCPU: 4, quota: "N4_CPUS", arch: x86, zones: "bc", nvme: true, hyperdisk: true},
		{series: "t2a", shape: "standard", cpus: []int{1, 2, 4, 8, 16, 32, 48}, perCPU: 4, quota: "T2A_CPUS", arch: arm, zones: "ab"},
		{series: "c4a", shape: "standard", cpus: []int{1, 2, 4, 8, 16, 32, 48, 64, 72}, perCPU: 4, quota: "C4A_CPUS", arch: arm, zones: "c", nvme: true, hyperdisk: true},
		{series: "m1", shape: "ultramem", cpus: []int{40, 80, 160}, perCPU: 24.025, quota: "M1_CPUS", arch: x86, zones: "a"},
		{series: "g2", shape: "standard", cpus: []int{4, 8, 12, 16}, perCPU: 4, quota: "CPUS", arch: x86, zones: "a", accelerator: "nvidia-l4"},
	}
}

// machineType is a size of machines.
type machineType struct {
	name     string
	cpus, mb int
	shared   bool
	custom   bool
	family   family
}

// sharedCore are the types whose processors are shared.
func sharedCore() []machineType {
	e2, n1 := families()[0], families()[3]
	return []machineType{
		{name: "e2-micro", cpus: 2, mb: 1024, family: e2, shared: true},
		{name: "e2-small", cpus: 2, mb: 2048, family: e2, shared: true},
		{name: "e2-medium", cpus: 2, mb: 4096, family: e2, shared: true},
		{name: "f1-micro", cpus: 1, mb: 614, family: n1, shared: true},
		{name: "g1-small", cpus: 1, mb: 1740, family: n1, shared: true},
	}
}

// predefined are all types that have a name of their own, by it.
func predefined() map[string]machineType {
	out := map[string]machineType{}
	for _, t := range sharedCore() {
		out[t.name] = t
	}
	for _, f := range families() {
		for _, n := range f.cpus {
			t := machineType{name: fmt.Sprintf("%s-%s-%d", f.series, f.shape, n), cpus: n, mb: int(float64(n) * f.perCPU * 1024), family: f}
			out[t.name] = t
		}
	}
	return out
}

func (t machineType) offered(zone string) bool {
	return t.family.zones == "" || strings.ContainsAny(zone[len(zone)-1:], t.family.zones)
}

// customType is a type whose size is in its name.
var customType = regexp.MustCompile(`^(?:(e2|n1|n2|n2d|n4)-)?custom-([0-9]+)-([0-9]+)$`)

// typeNamed returns a machine type of a zone. field is where a request names it.
func (g *GCP) typeNamed(field, zone, name string) (machineType, error) {
	if t, known := g.types[name]; known && t.offered(zone) {
		return t, nil
	}
	found := customType.FindStringSubmatch(name)
	if found == nil {
		return machineType{}, invalid(field, name, "The referenced machineType resource cannot be found.")
	}
	series := found[1]
	series = cmp.Or(series, "n1")
	t := machineType{name: name, custom: true}
	t.cpus, _ = strconv.Atoi(found[2]) // are numbers, as the pattern says
	t.mb, _ = strconv.Atoi(found[3])
	at := slices.IndexFunc(families(), func(f family) bool { return f.series == series })
	t.family = families()[at]
	return t, t.checkCustom(field)
}

// checkCustom refuses sizes that the series does not have.
func (t machineType) checkCustom(field string) error {
	least, most := 512*t.cpus, 8192*t.cpus
	if t.family.series == "n1" {
		least, most = 922*t.cpus, 6656*t.cpus
	}
	switch {
	case t.cpus < 1 || t.cpus > 1 && t.cpus%2 != 0 || t.cpus == 1 && t.family.series != "n1":
		return invalid(field, t.name, "Number of CPUs for a given Custom Machine Type must be 1 or an even number, and at least 2 for this series.")
	case t.mb%256 != 0:
		return invalid(field, t.name, "Memory should be a multiple of 256MiB, while %dMiB is requested.", t.mb)
	case t.mb < least:
		return invalid(field, t.name, "Memory size for a Custom Machine Type must be at least %d MiB for %d CPUs.", least, t.cpus)
	case t.mb > most:
		return invalid(field, t.name, "Memory size for a Custom Machine Type must be at most %d MiB for %d CPUs.", most, t.cpus)
	}
	return nil
}

func (t machineType) object(g *GCP, zone string) object {
	path := "zones/" + zone + "/machineTypes/" + t.name
	o := object{
		"kind": "compute#machineType", "id": numericID(t.name), "creationTimestamp": "1969-12-31T16:00:00.000-08:00", "name": t.name,
		"description": fmt.Sprintf("%d vCPUs %d GB RAM", t.cpus, t.mb/1024), "guestCpus": t.cpus, "memoryMb": t.mb, "imageSpaceGb": 0,
		"maximumPersistentDisks": 128, "maximumPersistentDisksSizeGb": "263168", "zone": zone, "selfLink": g.link(path), "isSharedCpu": t.shared,
		"architecture": t.family.arch,
	}
	if t.shared {
		o["maximumPersistentDisks"], o["maximumPersistentDisksSizeGb"] = 16, "3072"
	}
	if t.family.accelerator != "" {
		o["accelerators"] = []any{object{"guestAcceleratorType": t.family.accelerator, "guestAcceleratorCount": 1}}
	}
	return o
}

// diskTypes are the types of disks.
func diskTypes() []string {
	return []string{"pd-standard", "pd-balanced", "pd-ssd", "pd-extreme", "hyperdisk-balanced", "local-ssd"}
}
