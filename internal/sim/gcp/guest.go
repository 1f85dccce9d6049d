// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"fmt"
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
// the API, except that the boot disk is first. The serial of a SCSI disk is its device
// name; the namespaces of the NVMe controller all have the same.
func (g *GCP) guestDisks(i *resource) (out []datacenter.Disk) {
	all := i.Object.subs("disks")
	extra := slices.Clone(all[1:])
	slices.SortFunc(extra, func(a, b object) int {
		return strings.Compare(fingerprint(a.str("source")), fingerprint(b.str("source")))
	})
	for number, d := range append(all[:1:1], extra...) {
		disk := datacenter.Disk{
			Device: "/dev/sd" + string(rune('a'+number)), SizeBytes: g.diskSize(d), Serial: d.str("deviceName"), Model: "PersistentDisk", Transport: "scsi",
			WWID:    "t10.Google  PersistentDisk    " + d.str("deviceName"),
			BusPath: fmt.Sprintf("/pci0000:00/0000:00:03.0/virtio0/host0/target0:0:%d/0:0:%d:0", number+1, number+1), System: d.bool("boot"),
		}
		if d.str("interface") == "NVME" {
			disk.Device, disk.Serial, disk.Model, disk.Transport = fmt.Sprintf("/dev/nvme0n%d", number+1), "nvme_card-pd", "nvme_card-pd", "nvme"
			disk.WWID, disk.BusPath = fmt.Sprintf("nvme.1ae0-%08x", number+1), "/pci0000:00/0000:00:05.0/nvme"
		}
		out = append(out, disk)
	}
	return out
}

func (g *GCP) diskSize(attached object) uint64 {
	path, _ := g.self().pathOf(attached.str("source"))
	if d := g.st.get(path); d != nil {
		return uint64(d.Object.num("sizeGb")) * gib
	}
	return 0
}
