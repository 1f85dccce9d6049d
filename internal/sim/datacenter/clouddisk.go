// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

import (
	"fmt"
	"maps"
	"slices"
)

// GoogleDisk is a disk that is attached to an instance of Google Cloud.
type GoogleDisk struct {
	DeviceName string
	SizeBytes  uint64
	Boot, NVMe bool
}

// GoogleDisks returns disks as the guest of an instance sees them, in the order given. SCSI
// disks show their device names in links alone, NVMe disks nowhere.
func GoogleDisks(attached []GoogleDisk) (out []Disk) {
	for i, a := range attached {
		d := Disk{
			Device: "/dev/sd" + letter(i), SizeBytes: a.SizeBytes, Model: "PersistentDisk", Transport: "virtio", System: a.Boot,
			BusPath: fmt.Sprintf("/pci0000:00/0000:00:03.0/virtio0/host0/target0:0:%d/0:0:%d:0", i+1, i+1),
			Links:   []string{"/dev/disk/by-id/scsi-0Google_PersistentDisk_" + a.DeviceName},
		}
		if a.NVMe {
			d.Device, d.Model, d.Serial, d.Transport = fmt.Sprintf("/dev/nvme0n%d", i+1), "nvme_card-pd", "nvme_card-pd", "nvme"
			d.BusPath, d.Links = "/pci0000:00/0000:00:05.0/nvme/nvme0", nil
		}
		out = append(out, d)
	}
	return out
}

// AzureDisks are the disks of a virtual machine of Azure, with their sizes in bytes.
type AzureDisks struct {
	System, Temporary uint64           // Temporary 0: the size of the machine has none
	Data              map[int32]uint64 // by logical unit number
	NVMe              bool
}

// The controllers of a virtual machine of the second generation.
const (
	azureSystemBus = "f8b3781a-1e82-4818-a1c3-63d806ec15bb/host0/target0:0:0/0:0:0"
	azureDataBus   = "f8b3781b-1e82-4818-a1c3-63d806ec15bb/host1/target1:0:0/1:0:0"
)

// Guest returns the disks as the guest of the machine sees them. The temporary disk comes
// before those with data.
func (a AzureDisks) Guest() []Disk {
	if a.NVMe {
		return a.nvme()
	}
	scsi := func(i int, size uint64, bus string, lun int32) Disk {
		return Disk{
			Device: "/dev/sd" + letter(i), SizeBytes: size, Model: "Virtual Disk", Transport: "storvsc",
			BusPath: fmt.Sprintf("/LNXSYSTM:00/LNXSYBUS:00/ACPI0004:00/VMBUS:00/%s:%d", bus, lun),
		}
	}
	out := []Disk{scsi(0, a.System, azureSystemBus, 0)}
	out[0].System = true
	if a.Temporary > 0 {
		out = append(out, scsi(1, a.Temporary, azureSystemBus, 1))
	}
	for _, lun := range slices.Backward(slices.Sorted(maps.Keys(a.Data))) {
		out = append(out, scsi(len(out), a.Data[lun], azureDataBus, lun))
	}
	return out
}

// nvme has the system disk and those with data as namespaces of one controller, and the
// temporary disk at another.
func (a AzureDisks) nvme() (out []Disk) {
	namespace := func(controller int, id int32, size uint64, model string) Disk {
		return Disk{
			Device: fmt.Sprintf("/dev/nvme%dn%d", controller, id), SizeBytes: size, Model: model, Transport: "nvme",
			BusPath: fmt.Sprintf("/LNXSYSTM:00/LNXSYBUS:00/ACPI0004:00/VMBUS:00/pci%d:00/%d:00:00.0/nvme/nvme%d", controller, controller, controller),
		}
	}
	remote := 0
	if a.Temporary > 0 {
		out = append(out, namespace(0, 1, a.Temporary, "Microsoft NVMe Direct Disk v2"))
		remote = 1
	}
	system := namespace(remote, 1, a.System, "MSFT NVMe Accelerator v1.0")
	system.System = true
	out = append(out, system)
	for _, lun := range slices.Backward(slices.Sorted(maps.Keys(a.Data))) {
		out = append(out, namespace(remote, lun+2, a.Data[lun], system.Model))
	}
	return out
}

func letter(i int) string { return string(rune('a' + i)) }
