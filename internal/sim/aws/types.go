// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

func ec2Catalogue() map[string]operation {
	out := about(ec2, "", map[string]func(*call) (fields, error){
		"DescribeRegions": describeRegions, "DescribeAvailabilityZones": describeZones, "DescribeKeyPairs": describeKeyPairs,
		"DescribeInstanceTypes": describeTypes, "DescribeInstanceTypeOfferings": describeOfferings,
	})
	maps.Copy(out, about(ec2, fault.Image, map[string]func(*call) (fields, error){"DescribeImages": describeImages}))
	return out
}

func describeTypes(c *call) (fields, error) {
	wanted, all := c.params.List("InstanceType"), []*instanceType{}
	var unknown []string
	for _, name := range wanted {
		if _, known := c.typeNamed(name); !known {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		return nil, refuse("InvalidInstanceType", "The following supplied instance types do not exist: [%s]", strings.Join(unknown, ", "))
	}
	for i := range c.types {
		if len(wanted) == 0 || slices.Contains(wanted, c.types[i].Name) {
			all = append(all, &c.types[i])
		}
	}
	return described(c, "instanceTypeSet", pages{size: "MaxResults", token: "NextToken", least: 5, most: 100, otherwise: 100}, all, typeValues, showType)
}

func typeValues(t *instanceType) values {
	return values{
		"instance-type": {t.Name}, "current-generation": {fmt.Sprint(t.Current)}, "bare-metal": {fmt.Sprint(t.Metal)},
		"burstable-performance-supported": {fmt.Sprint(t.Burst)}, "hypervisor": {t.Hypervisor},
		"processor-info.supported-architecture": {t.Arch}, "vcpu-info.default-vcpus": {fmt.Sprint(t.CPU)},
		"memory-info.size-in-mib": {fmt.Sprint(t.MemoryMB)}, "supported-usage-class": {"on-demand", "spot"},
		"supported-virtualization-type": {"hvm"}, "supported-root-device-type": {"ebs"},
		"instance-storage-supported": {fmt.Sprint(t.StorageGB > 0)},
	}
}

func showType(t *instanceType) fields {
	ebs := "required"
	if t.Hypervisor == "xen" {
		ebs = "unsupported"
	}
	out := fields{
		"instanceType", t.Name, "currentGeneration", t.Current, "freeTierEligible", false,
		"supportedUsageClasses", items{"on-demand", "spot"}, "supportedRootDeviceTypes", items{"ebs"},
		"supportedVirtualizationTypes", items{"hvm"}, "bareMetal", t.Metal, "hypervisor", optional(t.Hypervisor),
		"processorInfo", fields{"supportedArchitectures", items{t.Arch}, "sustainedClockSpeedInGhz", "3.1"},
		"vCpuInfo", fields{"defaultVCpus", t.CPU, "defaultCores", max(t.CPU/2, 1), "defaultThreadsPerCore", 2},
		"memoryInfo", fields{"sizeInMiB", t.MemoryMB}, "instanceStorageSupported", t.StorageGB > 0,
		"ebsInfo", fields{"ebsOptimizedSupport", "default", "encryptionSupport", "supported", "nvmeSupport", ebs},
		"networkInfo", fields{
			"maximumNetworkInterfaces", t.ENIs, "ipv4AddressesPerInterface", t.PerENI, "ipv6AddressesPerInterface", t.PerENI,
			"ipv6Supported", true, "enaSupport", "required",
		},
		"burstablePerformanceSupported", t.Burst, "hibernationSupported", false,
	}
	if t.StorageGB > 0 {
		out = append(out, "instanceStorageInfo", fields{"totalSizeInGB", t.StorageGB, "nvmeSupport", "required"})
	}
	if t.GPU != "" {
		out = append(out, "gpuInfo", fields{"gpus", items{fields{"name", t.GPU, "manufacturer", "NVIDIA", "count", t.GPUs}}})
	}
	return out
}

// offering is a type at a place.
type offering struct{ kind, place, name string }

func describeOfferings(c *call) (fields, error) {
	kind := c.params.String("LocationType")
	kind = cmp.Or(kind, "region")
	return described(c, "instanceTypeOfferingSet", pages{size: "MaxResults", token: "NextToken", least: 5, most: 1000, otherwise: 1000}, c.offerings(kind), func(o *offering) values {
		return values{"instance-type": {o.name}, "location": {o.place}}
	}, func(o *offering) fields {
		return fields{"instanceType", o.name, "locationType", o.kind, "location", o.place}
	})
}

func (a *AWS) offerings(kind string) (out []*offering) {
	for _, t := range a.types {
		switch kind {
		case "region":
			out = append(out, &offering{kind, a.seed.Region, t.Name})
		case "availability-zone", "availability-zone-id":
			for i, zone := range a.zones() {
				if !t.offered(zone) {
					continue
				}
				place := zone
				if kind == "availability-zone-id" {
					place = zoneID(a.seed.Region, i)
				}
				out = append(out, &offering{kind, place, t.Name})
			}
		}
	}
	return out
}
