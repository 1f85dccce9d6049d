// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/talos"
)

// traits are what configurations of machines depend on, as far as it differs between providers.
type traits struct {
	// installDisk is the root disk; empty where Talos stays on the disk that it booted from.
	installDisk string
	// installer is Talos' name for the environment that the image of machines was built for,
	// where that is not its platform.
	installer string
	// userData is how many bytes of it a machine may have; 0 means that its machines get their
	// configuration by a push.
	userData int
	// diskPath is the path of a disk with a serial number, as a format; empty where serial
	// numbers make no paths, or are not known before the configuration is written.
	diskPath string
	// diskMatch is the expression that finds a disk whose place is known before the machine
	// exists; nil on platforms where it is not.
	diskMatch func(d talos.Disk, lun int32) string
}

// virtioDisk is the first disk on a virtio bus, and the default of the API.
const virtioDisk = "/dev/vda"

func traitsOf(p v1alpha1.ProviderType) traits {
	switch p {
	case v1alpha1.ProviderHarvester:
		return traits{installDisk: virtioDisk, diskPath: "/dev/disk/by-id/virtio-%s"}
	case v1alpha1.ProviderNutanix:
		// Disks are on a SCSI bus. AHV passes user data as the config drive of OpenStack.
		return traits{installDisk: "/dev/sda", installer: "openstack", diskMatch: func(_ talos.Disk, lun int32) string { return talos.NutanixDisk(lun) }}
	case v1alpha1.ProviderAWS:
		return traits{userData: 16 << 10}
	case v1alpha1.ProviderGCP:
		return traits{userData: 256 << 10, diskMatch: func(d talos.Disk, _ int32) string { return talos.GoogleDisk(d.Name, d.SizeGB) }}
	case v1alpha1.ProviderAzure:
		return traits{userData: 64<<10 - 1 /* before base64 */, diskMatch: func(_ talos.Disk, lun int32) string { return talos.AzureDisk(lun) }}
	case v1alpha1.ProviderProxmox:
		return traits{installDisk: virtioDisk}
	}
	return traits{}
}
