// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"regexp"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/provider/cloud"
)

// typesOf is how instance types are chosen: general purpose before compute before memory
// before others.
func typesOf() cloud.Catalogue {
	return cloud.Catalogue{
		Noun: "instance type", Field: "spec.aws.instanceType", Elsewhere: "use subnets of other zones",
		Families: cloud.Families{"m", "c", "r"},
	}
}

// sizeOf reads a type of the region's catalogue.
func sizeOf(t types.InstanceTypeInfo) cloud.Size {
	s := cloud.Size{Name: string(t.InstanceType), LocalDisks: value(t.InstanceStorageSupported)}
	s.Family, s.Generation = familyOf(s.Name)
	if t.VCpuInfo != nil {
		s.CPU = value(t.VCpuInfo.DefaultVCpus)
	}
	if t.MemoryInfo != nil {
		s.MemoryMB = int32(min(value(t.MemoryInfo.SizeInMiB), 1<<30))
	}
	if t.ProcessorInfo != nil {
		for _, a := range t.ProcessorInfo.SupportedArchitectures {
			s.Architectures = append(s.Architectures, string(a))
		}
	}
	s.Special = value(t.BurstablePerformanceSupported) || value(t.BareMetal) || !value(t.CurrentGeneration) || accelerated(t) || burstable.MatchString(s.Name)
	return s
}

// burstable are the families that are burstable on every implementation of the API.
var burstable = regexp.MustCompile(`^t[0-9]`)

func accelerated(t types.InstanceTypeInfo) bool {
	return t.GpuInfo != nil || t.FpgaInfo != nil || t.InferenceAcceleratorInfo != nil || t.NeuronInfo != nil || t.MediaAcceleratorInfo != nil
}

var familyName = regexp.MustCompile(`^([a-z]+)-?(\d+)`)

// familyOf returns what the name of a type says, such as m7i.large.
func familyOf(name string) (series string, generation int) {
	m := familyName.FindStringSubmatch(name)
	if m == nil {
		return name, 0
	}
	generation, _ = strconv.Atoi(m[2]) // digits
	return m[1], generation
}
