// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

const gib = 1 << 30

// metadata is what the guest reads about itself.
func (a *Azure) metadata(v *vm) *datacenter.Metadata {
	id, _ := parseID(v.ID)
	id.group = strings.ToLower(id.group)
	m := &datacenter.Metadata{
		Platform: "azure", Hostname: v.Name, Region: a.seed.Location, InstanceType: v.Properties.HardwareProfile.VMSize, InstanceID: v.Properties.VMID,
		ProviderID: "azure://" + id.String(), Tags: v.Tags,
	}
	if v.Properties.OSProfile != nil {
		m.Hostname = v.Properties.OSProfile.ComputerName
	}
	if v.Identity != nil {
		m.Identity = v.Identity.PrincipalID
	}
	return m
}

// guestDisks are the disks as the guest sees them.
func (a *Azure) guestDisks(v *vm, s size) []datacenter.Disk {
	p := v.Properties.StorageProfile
	all := datacenter.AzureDisks{
		System: uint64(p.OSDisk.DiskSizeGB) * gib, Temporary: uint64(s.temporaryGB) * gib, Data: map[int32]uint64{}, NVMe: s.diskControllerAPI == "NVMe",
	}
	for _, d := range p.DataDisks {
		all.Data[int32(*d.LUN)] = uint64(d.DiskSizeGB) * gib
	}
	return all.Guest()
}
