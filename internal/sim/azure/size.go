// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"fmt"
	"slices"
	"strings"
)

// size is a size of machines in the location.
type size struct {
	name, family      string
	cpus              int
	memoryMB          int
	arch              string
	generations       []string
	zones             []string
	temporaryGB       int // of its temporary disk; 0: none
	gpus              int
	premium           bool
	accelerated       bool
	encrypts          bool
	diskControllerAPI string
}

// maxDisks is how many data disks a machine can have.
func (s size) maxDisks() int { return min(64, 2*s.cpus) }

// series are sizes with the same properties.
type series struct {
	name        string // with %d for the number of processors
	family      string
	cpus        []int
	ratio       float64 // GiB for each processor
	arm, gen1   bool
	only1       bool // generation 1 only
	noPremium   bool
	zones       string
	temporary   int // GiB for each processor
	gpu         bool
	noEncrypted bool
	nvme        bool
}

func (s series) sizes() (out []size) {
	for _, n := range s.cpus {
		one := size{
			name: "Standard_" + fmt.Sprintf(s.name, n), family: s.family, cpus: n, memoryMB: int(s.ratio * float64(n) * 1024), arch: "x64",
			generations: []string{"V1", "V2"}, zones: strings.Split(s.zones, ""), temporaryGB: s.temporary * n, premium: !s.noPremium,
			accelerated: n > 1, encrypts: !s.noEncrypted, diskControllerAPI: "SCSI",
		}
		switch {
		case s.only1:
			one.generations = []string{"V1"}
		case !s.gen1:
			one.generations = []string{"V2"}
		}
		if s.arm {
			one.arch = "Arm64"
		}
		if s.gpu {
			one.gpus = max(1, n/16)
		}
		if s.nvme {
			one.diskControllerAPI = "NVMe"
		}
		out = append(out, one)
	}
	return out
}

// catalogue are the sizes of the location: families of each kind that a driver meets.
func catalogue() (out []size) {
	usual := []int{2, 4, 8, 16, 32, 48, 64, 96}
	for _, s := range []series{
		{name: "D%ds_v5", family: "standardDSv5Family", cpus: usual, ratio: 4, gen1: true, zones: "123"},
		{name: "D%ds_v6", family: "StandardDsv6Family", cpus: usual, ratio: 4, zones: "12", nvme: true},
		{name: "D%dds_v5", family: "standardDDSv5Family", cpus: usual, ratio: 4, gen1: true, zones: "123", temporary: 37},
		{name: "D%das_v5", family: "standardDASv5Family", cpus: usual, ratio: 4, gen1: true, zones: "123"},
		{name: "D%dps_v5", family: "standardDPSv5Family", cpus: []int{2, 4, 8, 16, 32, 48, 64}, ratio: 4, arm: true, zones: "123", noEncrypted: true},
		{name: "D%d_v5", family: "standardDv5Family", cpus: usual, ratio: 4, gen1: true, zones: "123", noPremium: true},
		{name: "D%ds_v3", family: "standardDSv3Family", cpus: []int{2, 4, 8, 16, 32, 48, 64}, ratio: 4, gen1: true, zones: "123", temporary: 8},
		{name: "DS%d_v2", family: "standardDSv2Family", cpus: []int{1, 2, 3, 4, 5}, ratio: 3.5, gen1: true, zones: "123", temporary: 7},
		{name: "A%d_v2", family: "standardAv2Family", cpus: []int{1, 2, 4, 8}, ratio: 2, only1: true, noPremium: true, zones: "123", temporary: 10, noEncrypted: true},
		{name: "E%ds_v5", family: "standardESv5Family", cpus: usual, ratio: 8, gen1: true, zones: "123"},
		{name: "E%das_v5", family: "standardEASv5Family", cpus: usual, ratio: 8, gen1: true, zones: "13"},
		{name: "F%ds_v2", family: "standardFSv2Family", cpus: []int{2, 4, 8, 16, 32, 48, 64, 72}, ratio: 2, gen1: true, zones: "123", temporary: 8},
		{name: "F%das_v6", family: "standardFasv6Family", cpus: []int{2, 4, 8, 16, 32, 48, 64}, ratio: 4, zones: "23"},
		{name: "B%dms", family: "standardBSFamily", cpus: []int{2, 4, 8, 12, 16, 20}, ratio: 4, gen1: true, zones: "123", temporary: 8},
		{name: "B%ds_v2", family: "standardBsv2Family", cpus: []int{2, 4, 8, 16, 32}, ratio: 4, gen1: true, zones: "123"},
		{name: "B%dps_v2", family: "standardBpsv2Family", cpus: []int{2, 4, 8, 16}, ratio: 4, arm: true, zones: "123", noEncrypted: true},
		{name: "NC%das_T4_v3", family: "Standard NCASv3_T4 Family", cpus: []int{4, 8, 16, 64}, ratio: 7, gen1: true, zones: "1", temporary: 44, gpu: true, noEncrypted: true},
		{name: "M%dms", family: "standardMSFamily", cpus: []int{64, 128}, ratio: 28, gen1: true, zones: "12", temporary: 32},
	} {
		out = append(out, s.sizes()...)
	}
	return out
}

func (a *Azure) sizeNamed(name string) (size, bool) {
	i := slices.IndexFunc(a.sizes, func(s size) bool { return strings.EqualFold(s.name, name) })
	if i < 0 {
		return size{}, false
	}
	s := a.sizes[i]
	s.zones = a.offered(s)
	return s, true
}

// offered are the zones of the location that have a size.
func (a *Azure) offered(s size) (out []string) {
	for _, z := range s.zones {
		if slices.Contains(a.seed.Zones, z) {
			out = append(out, z)
		}
	}
	return out
}

// showSizes are the SKUs of the location.
func (c *call) showSizes() (out []any) {
	for _, s := range c.sizes {
		restrictions := []any{}
		if slices.Contains(c.seed.Restricted, s.name) {
			restrictions = append(restrictions, map[string]any{
				"type": "Location", "values": []string{c.seed.Location}, "restrictionInfo": map[string]any{"locations": []string{c.seed.Location}}, "reasonCode": "NotAvailableForSubscription",
			})
		}
		zones := c.offered(s)
		out = append(out, map[string]any{
			"resourceType": "virtualMachines", "name": s.name, "tier": "Standard", "size": strings.TrimPrefix(s.name, "Standard_"), "family": s.family,
			"locations": []string{c.seed.Location}, "locationInfo": []any{map[string]any{"location": c.seed.Location, "zones": notNil(zones), "zoneDetails": []any{}}},
			"capabilities": s.capabilities(), "restrictions": restrictions,
		})
	}
	for _, name := range diskTypes {
		out = append(out, map[string]any{
			"resourceType": "disks", "name": name, "tier": strings.SplitN(name, "_", 2)[0], "size": "P10", "locations": []string{c.seed.Location},
			"locationInfo": []any{map[string]any{"location": c.seed.Location, "zones": c.seed.Zones, "zoneDetails": []any{}}},
			"capabilities": []any{}, "restrictions": []any{},
		})
	}
	return out
}

func (s size) capabilities() (out []any) {
	title := func(b bool) string {
		if b {
			return "True"
		}
		return "False"
	}
	for _, pair := range [][2]string{
		{"vCPUs", fmt.Sprint(s.cpus)}, {"vCPUsAvailable", fmt.Sprint(s.cpus)}, {"MemoryGB", fmt.Sprint(float64(s.memoryMB) / 1024)}, {"CpuArchitectureType", s.arch},
		{"HyperVGenerations", strings.Join(s.generations, ",")}, {"PremiumIO", title(s.premium)}, {"MaxDataDiskCount", fmt.Sprint(s.maxDisks())},
		{"MaxResourceVolumeMB", fmt.Sprint(s.temporaryGB * 1024)}, {"EncryptionAtHostSupported", title(s.encrypts)}, {"AcceleratedNetworkingEnabled", title(s.accelerated)},
		{"EphemeralOSDiskSupported", title(s.temporaryGB > 0)}, {"DiskControllerTypes", s.diskControllerAPI}, {"GPUs", fmt.Sprint(s.gpus)},
		{"MaxNetworkInterfaces", fmt.Sprint(max(2, s.cpus/2))}, {"LowPriorityCapable", "True"},
	} {
		if pair[0] != "GPUs" || s.gpus > 0 {
			out = append(out, map[string]string{"name": pair[0], "value": pair[1]})
		}
	}
	return out
}

// usage is how much of a quota is used.
type usage struct {
	name, text, family string
	used, limit        int
}

// usages are the quotas of processors: of the location and of each family.
func (a *Azure) usages() []usage {
	byFamily, total, machines := map[string]int{}, 0, 0
	each(a.st, func(r *record, v *vm) {
		if s, known := a.sizeNamed(v.Properties.HardwareProfile.VMSize); known && r.Power != powerDeallocated {
			byFamily[s.family] += s.cpus
			total += s.cpus
		}
		machines++
	})
	sets := 0
	each(a.st, func(*record, *availabilitySet) { sets++ })
	out := []usage{
		{"availabilitySets", "Availability Sets", "", sets, 2500}, {"cores", "Total Regional vCPUs", "", total, a.seed.VCPUs},
		{"virtualMachines", "Virtual Machines", "", machines, 25000},
	}
	seen := map[string]bool{}
	for _, s := range a.sizes {
		if !seen[s.family] {
			seen[s.family] = true
			out = append(out, usage{s.family, s.family + " vCPUs", s.family, byFamily[s.family], a.seed.VCPUs})
		}
	}
	return out
}

// networkUsages are the quotas of the network.
func (a *Azure) networkUsages() []usage {
	count := map[string]int{}
	for _, r := range a.st.resources.ByID {
		count[r.top().Type]++
	}
	return []usage{
		{"VirtualNetworks", "Virtual Networks", "", count[vnetKind], 1000}, {"StaticPublicIPAddresses", "Static Public IP Addresses", "", count[addressKind], publicLimit},
		{"NetworkSecurityGroups", "Network Security Groups", "", count[nsgKind], 5000}, {"PublicIPAddresses", "Public IP Addresses", "", count[addressKind], publicLimit},
		{"StandardSkuPublicIpAddresses", "Public IPv4 Addresses - Standard", "", count[addressKind], publicLimit},
		{"NetworkInterfaces", "Network Interfaces", "", count[nicKind], 65536}, {"StandardSkuLoadBalancers", "Standard Sku Load Balancers", "", count[balancerKind], balancerLimit},
		{"NatGateways", "NAT Gateways", "", count[natKind], 1000}, {"RouteTables", "Route Tables", "", count[routesKind], 200},
	}
}

func showUsages(all []usage) (out []any) {
	for _, u := range all {
		out = append(out, map[string]any{"unit": "Count", "currentValue": u.used, "limit": u.limit, "name": map[string]string{"value": u.name, "localizedValue": u.text}})
	}
	return out
}
