// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

const gib = 1 << 30

// guestData is what the guest reads: its user data, else its custom data.
func (r *record) guestData() []byte {
	if raw, err := base64.StdEncoding.DecodeString(string(r.UserData)); err == nil && len(raw) > 0 {
		return raw
	}
	return r.CustomData
}

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

// guestDisks are the disks as the guest sees them: that of the system and the temporary
// one on the first controller, data disks with their LUN on the second. Their letters say
// nothing: here data disks come in the opposite order.
func (a *Azure) guestDisks(v *vm, s size) (out []datacenter.Disk) {
	add := func(sizeBytes uint64, controller, lun int, wwid string) {
		out = append(out, datacenter.Disk{
			Device: "/dev/sd" + string(rune('a'+len(out))), SizeBytes: sizeBytes, Model: "Virtual Disk", Transport: "scsi", WWID: wwid,
			BusPath: fmt.Sprintf("/acpi0004:00/VMBUS:01/%s/host%d/target%d:0:0/%d:0:0:%d/", controllers[min(controller, 1)], controller, controller, controller, lun),
		})
	}
	p := v.Properties
	add(uint64(p.StorageProfile.OSDisk.DiskSizeGB)*gib, 0, 0, wwid(p.StorageProfile.OSDisk.ManagedDisk.ID))
	out[0].System = true
	if s.temporaryGB > 0 {
		add(uint64(s.temporaryGB)*gib, 0, 1, wwid(v.ID+"/temporary"))
	}
	for i := len(p.StorageProfile.DataDisks) - 1; i >= 0; i-- {
		d := p.StorageProfile.DataDisks[i]
		add(uint64(d.DiskSizeGB)*gib, 1, *d.LUN, wwid(d.ManagedDisk.ID))
	}
	return out
}

var controllers = [2]string{"f8b3781a-1e82-4818-a1c3-63d806ec15bb", "f8b3781b-1e82-4818-a1c3-63d806ec15bb"}

func wwid(id string) string { return "naa.60022480" + digest(id)[:24] }
