// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// size is an instance type as far as the choice needs it.
type size struct {
	name          string
	cpu, memoryMB int32
	architectures []string
	localDisks    bool
	// special are types that are only used if they are named: burstable, with
	// accelerators, bare metal, or of a previous generation.
	special bool
}

// sizeOf reads a type of the region's catalogue.
func sizeOf(t types.InstanceTypeInfo) size {
	s := size{name: string(t.InstanceType), localDisks: value(t.InstanceStorageSupported)}
	if t.VCpuInfo != nil {
		s.cpu = value(t.VCpuInfo.DefaultVCpus)
	}
	if t.MemoryInfo != nil {
		s.memoryMB = int32(min(value(t.MemoryInfo.SizeInMiB), 1<<30))
	}
	if t.ProcessorInfo != nil {
		for _, a := range t.ProcessorInfo.SupportedArchitectures {
			s.architectures = append(s.architectures, string(a))
		}
	}
	s.special = value(t.BurstablePerformanceSupported) || value(t.BareMetal) || !value(t.CurrentGeneration) || accelerated(t) || burstable.MatchString(s.name)
	return s
}

// burstable are the families that are burstable on every implementation of the API.
var burstable = regexp.MustCompile(`^t[0-9]`)

func accelerated(t types.InstanceTypeInfo) bool {
	return t.GpuInfo != nil || t.FpgaInfo != nil || t.InferenceAcceleratorInfo != nil || t.NeuronInfo != nil || t.MediaAcceleratorInfo != nil
}

// fits reports whether a machine of these resources runs on the size.
func (s size) fits(cpu, memoryMB int32, architecture string) bool {
	return s.cpu >= cpu && s.memoryMB >= memoryMB && slices.Contains(s.architectures, architecture)
}

// choose returns the smallest size for the machine, false if there is none. Sizes that
// are named only are left out.
func choose(sizes []size, cpu, memoryMB int32, architecture string) (best size, found bool) {
	for _, s := range sizes {
		if s.special || !s.fits(cpu, memoryMB, architecture) {
			continue
		}
		if !found || compareSizes(s, best) < 0 {
			best, found = s, true
		}
	}
	return best, found
}

// compareSizes orders sizes: fewer processors, less memory, general purpose before
// compute before memory before others, without local disks, the newest generation, the
// shortest name, the name.
func compareSizes(a, b size) int {
	x, y := familyOf(a.name), familyOf(b.name)
	return cmp.Or(
		cmp.Compare(a.cpu, b.cpu), cmp.Compare(a.memoryMB, b.memoryMB), cmp.Compare(x.rank(), y.rank()),
		cmp.Compare(number(a.localDisks), number(b.localDisks)), cmp.Compare(y.generation, x.generation),
		cmp.Compare(len(a.name), len(b.name)), strings.Compare(a.name, b.name),
	)
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// family is what the name of a type says, such as m7i.large.
type family struct {
	series     string
	generation int
}

var familyName = regexp.MustCompile(`^([a-z]+)-?(\d+)`)

func familyOf(name string) family {
	m := familyName.FindStringSubmatch(name)
	if m == nil {
		return family{series: name}
	}
	generation, _ := strconv.Atoi(m[2]) // digits
	return family{m[1], generation}
}

// rank is the place of the series in the documented order.
func (f family) rank() int {
	order := []string{"m", "c", "r"}
	if i := slices.Index(order, f.series); i >= 0 {
		return i
	}
	return len(order)
}
