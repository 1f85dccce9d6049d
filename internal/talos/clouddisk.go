// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import "fmt"

const (
	googleLink = "/dev/disk/by-id/scsi-0Google_PersistentDisk_"
	// googleNVMe is the model of all persistent disks that are namespaces of a controller;
	// local disks have another one.
	googleNVMe = "nvme_card-pd"

	// azureData are the identifiers of the controllers that data disks are attached to. The
	// system disk and the temporary disk have others.
	azureData = "f8b3781[bcd]-1e82-4818-a1c3-63d806ec15bb"
	azureNVMe = "MSFT NVMe Accelerator"
	// azureFirstNamespace is that of the data disk with the first unit number; the system disk
	// has the one before.
	azureFirstNamespace = 2
)

// GoogleDisk returns the expression that finds a persistent disk by its device name. Talos
// sees device names as links of SCSI disks, not as serial numbers; NVMe disks do not show
// them, and are found by their size.
func GoogleDisk(deviceName string, sizeGB int32) string {
	return fmt.Sprintf("!system_disk && (%q in disk.symlinks || disk.model == %q && %s)",
		googleLink+deviceName, googleNVMe, ofSize(sizeGB))
}

// AzureDisk returns the expression that finds the data disk with a logical unit number. The
// temporary disk of a machine is never one of them.
func AzureDisk(lun int32) string {
	return fmt.Sprintf("disk.bus_path.matches(%q) || disk.model.startsWith(%q) && disk.dev_path.matches(%q)",
		fmt.Sprintf("/%s/.*:%d$", azureData, lun), azureNVMe, fmt.Sprintf("^/dev/nvme[0-9]+n%d$", lun+azureFirstNamespace))
}

// ahvModel is the model of the disks of AHV.
const ahvModel = "VDISK"

// NutanixDisk returns the expression that finds a disk of AHV by its index on the SCSI bus,
// which the guest sees as the number of the target.
func NutanixDisk(index int32) string {
	return fmt.Sprintf("disk.model == %q && disk.bus_path.matches(%q)", ahvModel, fmt.Sprintf("/target[0-9]+:0:%d/[0-9]+:0:%d:0$", index, index))
}
