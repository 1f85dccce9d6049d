// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"cmp"
	"slices"
	"strconv"
)

// family is a series of instance types whose memory grows with the processors.
type family struct {
	name func(cpu int32) string
	// memoryGB of each processor.
	memoryGB int64
	cpus     []int32
}

// The series that workers get in a cloud, one for each ratio of memory to processors. The
// choice is fixed, unlike that of a driver: another choice for the same spec would replace all
// workers.
func awsSizes() []family {
	name := func(series string) func(int32) string {
		return func(cpu int32) string {
			if cpu == 2 {
				return series + ".large"
			}
			if cpu == 4 {
				return series + ".xlarge"
			}
			return series + "." + strconv.Itoa(int(cpu/4)) + "xlarge"
		}
	}
	cpus := []int32{2, 4, 8, 16, 32, 48, 64, 96, 128}
	return []family{{name("c6i"), 2, cpus}, {name("m6i"), 4, cpus}, {name("r6i"), 8, cpus}}
}

func gcpSizes() []family {
	name := func(series string) func(int32) string {
		return func(cpu int32) string { return series + "-" + strconv.Itoa(int(cpu)) }
	}
	return []family{
		{name("n2-highcpu"), 1, []int32{2, 4, 8, 16, 32, 48, 64, 80, 96}},
		{name("n2-standard"), 4, []int32{2, 4, 8, 16, 32, 48, 64, 80, 96, 128}},
		{name("n2-highmem"), 8, []int32{2, 4, 8, 16, 32, 48, 64, 80}},
	}
}

func azureSizes() []family {
	name := func(series string) func(int32) string {
		return func(cpu int32) string { return "Standard_" + series + strconv.Itoa(int(cpu)) + "s_v5" }
	}
	return []family{
		{name("D"), 4, []int32{2, 4, 8, 16, 32, 48, 64, 96}},
		{name("E"), 8, []int32{2, 4, 8, 16, 20, 32, 48, 64, 96}},
	}
}

// instanceType returns the one that is named, that the caller has resolved, or the smallest
// that holds the workers.
func (in Input) instanceType(sizes func() []family, override, configured string) (string, error) {
	if named := cmp.Or(override, configured, in.Resolved.InstanceType); named != "" {
		return named, nil
	}
	best, bestCPU := "", int32(0)
	for _, f := range sizes() {
		i := slices.IndexFunc(f.cpus, func(cpu int32) bool {
			return cpu >= in.machine().CPU && int64(cpu)*f.memoryGB<<10 >= in.memoryMB()
		})
		if i >= 0 && (best == "" || f.cpus[i] < bestCPU) {
			best, bestCPU = f.name(f.cpus[i]), f.cpus[i]
		}
	}
	if best == "" {
		return "", ofTenant("spec.workers.machineTemplate", "no instance type has %d processors and %s of memory; name one in spec.infrastructureOverride", in.machine().CPU, in.machine().Memory.String())
	}
	return best, nil
}
