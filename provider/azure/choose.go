// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"

	"github.com/butlerdotdev/butler/provider/cloud"
)

// size is a size of virtual machines as far as the choice needs it.
type size struct {
	// Special are burstable ones, those with accelerators, confidential ones, those with
	// fewer processors than their family, previous generations, and those without SCSI.
	cloud.Size
	quota       string // the family that it counts for
	disks       int    // how many data disks it takes
	generations []string
	zones       []string
	premium     bool // it takes premium disks
	encrypts    bool // its host encrypts disks
	// refused says why the subscription may not use it; empty means that it may.
	refused string
}

// sizeOf reads a size of the location's catalogue.
func sizeOf(s *armcompute.ResourceSKU) size {
	can := map[string]string{}
	for _, c := range s.Capabilities {
		can[value(c.Name)] = value(c.Value)
	}
	number := func(names ...string) float64 {
		for _, n := range names {
			if f, err := strconv.ParseFloat(can[n], 64); err == nil {
				return f
			}
		}
		return 0
	}
	of, controllers := familyOf(value(s.Name)), can["DiskControllerTypes"]
	out := size{
		Size: cloud.Size{
			Name: value(s.Name), CPU: int32(number("vCPUsAvailable", "vCPUs")), MemoryMB: int32(number("MemoryGB") * 1024), Architectures: []string{cmp.Or(can["CpuArchitectureType"], archX64)},
			Family: of.series, Generation: of.version, LocalDisks: number("MaxResourceVolumeMB", "NvmeDiskSizeInMiB") > 0,
			Special: of.special() || number("GPUs") > 0 || controllers != "" && !strings.Contains(controllers, "SCSI"),
		},
		quota: value(s.Family), disks: int(number("MaxDataDiskCount")), generations: strings.Split(cmp.Or(can["HyperVGenerations"], "V1"), ","),
		premium: truth(can["PremiumIO"]), encrypts: truth(can["EncryptionAtHostSupported"]),
	}
	out.zones, out.refused = offers(s)
	return out
}

func truth(text string) bool { return strings.EqualFold(text, "true") }

// offers returns the zones that have the size for the subscription, and why it has it
// nowhere.
func offers(s *armcompute.ResourceSKU) (zones []string, refused string) {
	for _, l := range s.LocationInfo {
		zones = append(zones, values(l.Zones)...)
	}
	for _, r := range s.Restrictions {
		if value(r.Type) == armcompute.ResourceSKURestrictionsTypeLocation {
			refused = string(value(r.ReasonCode))
			zones = nil
		} else if r.RestrictionInfo != nil {
			not := values(r.RestrictionInfo.Zones)
			zones = slices.DeleteFunc(zones, func(z string) bool { return slices.Contains(not, z) })
		}
	}
	slices.Sort(zones)
	return slices.Compact(zones), refused
}

// demand is what a size has to have.
type demand struct {
	cpu, memoryMB            int32
	disks                    int
	architecture, generation string
}

// obstacle says why a machine does not run on the size; empty means that it does.
func (s size) obstacle(d demand) string {
	switch {
	case s.refused != "":
		return "the subscription may not use it in this location (" + s.refused + ")"
	case !s.Boots(d.architecture):
		return "it does not boot an image of " + d.architecture
	case d.generation != "" && !slices.Contains(s.generations, d.generation):
		return "it does not boot an image of Hyper-V generation " + d.generation
	case s.disks < d.disks:
		return "it takes " + strconv.Itoa(s.disks) + " data disks"
	}
	return ""
}

// in reports whether a zone has the size; no zone is the location as a whole.
func (s size) in(zone string) bool { return zone == "" || slices.Contains(s.zones, zone) }

// families is the order of sizes with the same resources: general purpose before compute
// before memory before others.
func families() cloud.Families { return cloud.Families{"D", "F", "E"} }

// choose returns the smallest size for the machine in a zone, false if there is none. Sizes
// that are named only, and those that take no premium disk, are left out.
func choose(sizes []size, d demand, zone string) (best size, found bool) {
	for _, s := range sizes {
		if s.Special || !s.premium || !s.Holds(d.cpu, d.memoryMB) || s.obstacle(d) != "" || !s.in(zone) {
			continue
		}
		if !found || families().Compare(s.Size, best.Size) < 0 {
			best, found = s, true
		}
	}
	return best, found
}

// family is what the name of a size says, such as Standard_D4s_v5.
type family struct {
	series      string
	constrained bool
	version     int
}

var sizeName = regexp.MustCompile(`^[A-Za-z]+_([A-Z]+)\d+(-\d+)?[a-z]*(?:_[A-Za-z0-9]+)*?(?:_v(\d+))?$`)

func familyOf(name string) family {
	m := sizeName.FindStringSubmatch(name)
	if m == nil {
		return family{series: name}
	}
	version := 1
	if m[3] != "" {
		version, _ = strconv.Atoi(m[3]) // digits
	}
	return family{strings.TrimSuffix(m[1], "S"), m[2] != "", version}
}

// special reports whether sizes of the family are only used if they are named.
func (f family) special() bool {
	oldest, general := map[string]int{"D": 3, "E": 3, "F": 2, "L": 2, "M": 1}[f.series]
	return f.constrained || !general || f.version < oldest
}
