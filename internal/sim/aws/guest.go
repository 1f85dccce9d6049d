// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// userData is what the metadata service gives to the guest.
func (i *instance) userData() []byte {
	if i.Metadata.Endpoint == "disabled" {
		return nil
	}
	return i.UserData
}

// metadata is what the guest reads about itself.
func (a *AWS) metadata(i *instance, n *networkInterface) *datacenter.Metadata {
	m := &datacenter.Metadata{
		Platform: "aws", Hostname: n.privateDNS(a.seed.Region), Region: a.seed.Region, InstanceType: i.Type, InstanceID: i.ID,
		ProviderID: "aws:///" + i.Zone + "/" + i.ID, Identity: i.Profile,
	}
	if i.Metadata.Tags == "enabled" {
		m.Tags = i.Tags
	}
	return m
}

const (
	gib = 1 << 30
	gb  = 1000 * 1000 * 1000
)

// guestDisks are the disks as the guest sees them. Nitro attaches volumes as NVMe devices,
// whose numbers say nothing about the device names of the API; their serial is the ID of
// the volume. Xen keeps the names.
func (a *AWS) guestDisks(i *instance, t instanceType) (out []datacenter.Disk) {
	var extra []*volume
	for _, v := range a.st.volumes.Where(func(v *volume) bool { return v.Instance == i.ID }) {
		if v.Device == i.RootDevice {
			root := t.disk(0, v)
			root.System = true
			out = append(out, root)
			continue
		}
		extra = append(extra, v)
	}
	for _, v := range extra { // in the order of their IDs
		out = append(out, t.disk(len(out), v))
	}
	if t.StorageGB > 0 && t.Hypervisor != "xen" {
		out = append(out, datacenter.Disk{
			Device: fmt.Sprintf("/dev/nvme%dn1", len(out)), SizeBytes: uint64(t.StorageGB) * gb, Transport: "nvme",
			Serial: "AWS" + strings.ToUpper(i.ID[len(i.ID)-16:]), Model: "Amazon EC2 NVMe Instance Storage",
		})
	}
	return out
}

func (t instanceType) disk(number int, v *volume) datacenter.Disk {
	if t.Hypervisor == "xen" {
		return datacenter.Disk{Device: "/dev/xvd" + v.Device[len(v.Device)-1:], SizeBytes: uint64(v.GB) * gib}
	}
	serial := strings.ReplaceAll(v.ID, "-", "")
	return datacenter.Disk{
		Device: fmt.Sprintf("/dev/nvme%dn1", number), SizeBytes: uint64(v.GB) * gib, Serial: serial, Model: "Amazon Elastic Block Store",
		Transport: "nvme", WWID: "nvme.1d0f-" + fmt.Sprintf("%x", serial) + "-416d617a6f6e20456c617374696320426c6f636b2053746f7265-00000001",
	}
}
