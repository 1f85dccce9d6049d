// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"slices"
	"strings"
)

// instanceType is one that a region offers.
type instanceType struct {
	Name           string
	CPU, MemoryMB  int
	Arch           string
	Current, Burst bool
	Metal          bool
	GPU            string // name of the accelerator; empty: none
	GPUs           int
	Hypervisor     string // empty on bare metal
	StorageGB      int    // instance storage
	Zones          string // letters of the zones that offer it
	ENIs, PerENI   int
}

// family is types that differ in their size alone.
type family struct {
	name    string
	perCPU  float64 // GiB of memory for each processor
	sizes   string
	zones   string
	arch    string
	old     bool
	burst   bool
	xen     bool
	gpu     string
	storage int // GB for each processor
}

const (
	allSizes  = "large xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge 24xlarge metal"
	armSizes  = "medium large xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge metal"
	oldSizes  = "medium large xlarge 2xlarge"
	x86, arm  = "x86_64", "arm64"
	burstable = "nano micro small medium large xlarge 2xlarge"
)

func families() []family {
	return []family{
		{name: "m5", perCPU: 4, sizes: allSizes, zones: "abc", arch: x86},
		{name: "m5a", perCPU: 4, sizes: "large xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge 24xlarge", zones: "abc", arch: x86},
		{name: "m5d", perCPU: 4, sizes: allSizes, zones: "abc", arch: x86, storage: 37},
		{name: "m6i", perCPU: 4, sizes: allSizes, zones: "abc", arch: x86},
		{name: "m6a", perCPU: 4, sizes: allSizes, zones: "abc", arch: x86},
		{name: "m7i", perCPU: 4, sizes: allSizes, zones: "bc", arch: x86},
		{name: "m7i-flex", perCPU: 4, sizes: "large xlarge 2xlarge 4xlarge 8xlarge", zones: "bc", arch: x86},
		{name: "m6g", perCPU: 4, sizes: armSizes, zones: "abc", arch: arm},
		{name: "m7g", perCPU: 4, sizes: armSizes, zones: "bc", arch: arm},
		{name: "c5", perCPU: 2, sizes: allSizes, zones: "abc", arch: x86},
		{name: "c6i", perCPU: 2, sizes: allSizes, zones: "abc", arch: x86},
		{name: "c7i", perCPU: 2, sizes: allSizes, zones: "bc", arch: x86},
		{name: "c6g", perCPU: 2, sizes: armSizes, zones: "abc", arch: arm},
		{name: "r5", perCPU: 8, sizes: allSizes, zones: "abc", arch: x86},
		{name: "r6i", perCPU: 8, sizes: allSizes, zones: "abc", arch: x86},
		{name: "r6g", perCPU: 8, sizes: armSizes, zones: "ab", arch: arm},
		{name: "i3en", perCPU: 8, sizes: "large xlarge 2xlarge 12xlarge 24xlarge metal", zones: "abc", arch: x86, storage: 625},
		{name: "t2", sizes: burstable, zones: "abc", arch: x86, burst: true, xen: true},
		{name: "t3", sizes: burstable, zones: "abc", arch: x86, burst: true},
		{name: "t3a", sizes: burstable, zones: "abc", arch: x86, burst: true},
		{name: "t4g", sizes: burstable, zones: "abc", arch: arm, burst: true},
		{name: "m3", perCPU: 3.75, sizes: oldSizes, zones: "ab", arch: x86, old: true, xen: true},
		{name: "c3", perCPU: 1.875, sizes: "large xlarge 2xlarge 4xlarge 8xlarge", zones: "ab", arch: x86, old: true, xen: true},
		{name: "r3", perCPU: 7.625, sizes: "large xlarge 2xlarge 4xlarge 8xlarge", zones: "ab", arch: x86, old: true, xen: true},
		{name: "p3", perCPU: 7.625, sizes: "2xlarge 8xlarge 16xlarge", zones: "ab", arch: x86, xen: true, gpu: "V100"},
		{name: "g4dn", perCPU: 4, sizes: "xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge metal", zones: "abc", arch: x86, gpu: "T4", storage: 31},
	}
}

// cpus are the processors of a size, for families without bursts.
func cpus(size, largest string) int {
	counts := map[string]int{"medium": 1, "large": 2, "xlarge": 4, "2xlarge": 8, "4xlarge": 16, "8xlarge": 32, "12xlarge": 48, "16xlarge": 64, "24xlarge": 96}
	if size == "metal" {
		return counts[largest]
	}
	return counts[size]
}

// burstSizes are processors and memory of burstable types.
func burstSize(size string) (cpu, memoryMB int) {
	memory := map[string]int{"nano": 512, "micro": 1024, "small": 2048, "medium": 4096, "large": 8192, "xlarge": 16384, "2xlarge": 32768}
	count := map[string]int{"xlarge": 4, "2xlarge": 8}[size]
	return max(count, 2), memory[size]
}

// catalogue returns the types in the order of their names.
func catalogue() (out []instanceType) {
	for _, f := range families() {
		sizes := strings.Fields(f.sizes)
		for i, size := range sizes {
			out = append(out, f.of(size, sizes[max(i-1, 0)]))
		}
	}
	slices.SortFunc(out, func(a, b instanceType) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (f family) of(size, before string) instanceType {
	cpu := cpus(size, before)
	memory := int(float64(cpu) * f.perCPU * 1024)
	if f.burst {
		cpu, memory = burstSize(size)
	}
	t := instanceType{
		Name: f.name + "." + size, CPU: cpu, MemoryMB: memory, Arch: f.arch, Current: !f.old, Burst: f.burst, Metal: size == "metal",
		GPU: f.gpu, Hypervisor: "nitro", StorageGB: f.storage * cpu, Zones: f.zones, ENIs: min(max(cpu, 2), 15), PerENI: min(4+cpu*2, 50),
	}
	if f.gpu != "" {
		t.GPUs = max(cpu/8, 1)
	}
	switch {
	case t.Metal:
		t.Hypervisor = ""
	case f.xen:
		t.Hypervisor = "xen"
	}
	return t
}

// find returns a type by its name.
func (a *AWS) typeNamed(name string) (instanceType, bool) {
	i, found := slices.BinarySearchFunc(a.types, name, func(t instanceType, n string) int { return strings.Compare(t.Name, n) })
	if !found {
		return instanceType{}, false
	}
	return a.types[i], true
}

// offered reports whether a zone has the type.
func (t instanceType) offered(zone string) bool {
	return zone != "" && strings.Contains(t.Zones, zone[len(zone)-1:])
}

// bucket is the quota that the type counts towards.
func (t instanceType) bucket() string {
	switch {
	case strings.HasPrefix(t.Name, "p"):
		return "P"
	case strings.HasPrefix(t.Name, "g"):
		return "G"
	}
	return "Standard"
}
