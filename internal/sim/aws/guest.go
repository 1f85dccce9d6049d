// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// metadata is what the metadata service says to the guest of an instance.
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

// disks are the volumes of an instance as NVMe shows them: the root volume first, the
// others in no order that their device names would say.
func (a *AWS) disks(i *instance) (out []datacenter.Disk) {
	all := a.st.volumes.where(func(v *volume) bool { return v.Instance == i.ID })
	slices.SortStableFunc(all, func(x, y *volume) int {
		switch i.RootDevice {
		case x.Device:
			return -1
		case y.Device:
			return 1
		}
		return strings.Compare(x.ID, y.ID)
	})
	for at, v := range all {
		out = append(out, datacenter.Disk{
			Device: fmt.Sprintf("/dev/nvme%dn1", at), SizeBytes: uint64(v.GB) << 30, Serial: strings.ReplaceAll(v.ID, "-", ""),
			Model: "Amazon Elastic Block Store", Transport: "nvme", System: v.Device == i.RootDevice,
		})
	}
	return out
}
