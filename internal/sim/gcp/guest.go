// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

const gib = 1 << 30

// guestMetadata is what the guest reads about itself.
func (g *GCP) guestMetadata(i *resource) *datacenter.Metadata {
	zone := locationOf(i.Path)
	m := &datacenter.Metadata{
		Platform: "gcp", Hostname: g.zonalName(i), Region: regionOf(zone), InstanceType: nameOf(i.Object.str("machineType")), InstanceID: i.id(),
		ProviderID: "gce://" + g.seed.Project + "/" + zone + "/" + i.name(),
	}
	for _, account := range i.Object.subs("serviceAccounts") {
		m.Identity = account.str("email")
	}
	return m
}

// bootImage is what the image says about itself that the boot disk was copied from: its
// name, and the description with the version and the schematic.
func (g *GCP) bootImage(i *resource) string {
	path, _ := g.self().pathOf(i.Object.subs("disks")[0].str("source"))
	d := g.st.get(path)
	if d == nil {
		return ""
	}
	from, _ := g.self().pathOf(d.Object.str("sourceImage"))
	if image := g.st.get(from); image != nil {
		return image.name() + " " + image.Object.str("description")
	}
	return nameOf(d.Object.str("sourceImage"))
}

// guestDisks are the disks as the guest sees them. Their order says nothing about that of
// the API, except that the boot disk is first.
func (g *GCP) guestDisks(i *resource) []datacenter.Disk {
	all := i.Object.subs("disks")
	extra := slices.Clone(all[1:])
	slices.SortFunc(extra, func(a, b object) int {
		return strings.Compare(fingerprint(a.str("source")), fingerprint(b.str("source")))
	})
	var attached []datacenter.GoogleDisk
	for _, d := range append(all[:1:1], extra...) {
		attached = append(attached, datacenter.GoogleDisk{
			DeviceName: d.str("deviceName"), SizeBytes: g.diskSize(d), Boot: d.bool("boot"), NVMe: d.str("interface") == "NVME",
		})
	}
	return datacenter.GoogleDisks(attached)
}

func (g *GCP) diskSize(attached object) uint64 {
	path, _ := g.self().pathOf(attached.str("source"))
	if d := g.st.get(path); d != nil {
		return uint64(d.Object.num("sizeGb")) * gib
	}
	return 0
}
