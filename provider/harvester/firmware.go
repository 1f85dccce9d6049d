// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	kubevirtv1 "kubevirt.io/api/core/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// firmware is what the guest boots with; nil is KubeVirt's default, a BIOS.
func firmware(f v1alpha1.HarvesterFirmware) *kubevirtv1.Firmware {
	if f != v1alpha1.FirmwareEFI && f != v1alpha1.FirmwareSecureBoot {
		return nil
	}
	// KubeVirt's EFI has secure boot on unless it is switched off.
	secure := f == v1alpha1.FirmwareSecureBoot
	return &kubevirtv1.Firmware{Bootloader: &kubevirtv1.Bootloader{EFI: &kubevirtv1.EFI{SecureBoot: &secure}}}
}

// features are what the firmware needs of the virtual machine: secure boot is refused
// without system management mode.
func features(f v1alpha1.HarvesterFirmware) *kubevirtv1.Features {
	if f != v1alpha1.FirmwareSecureBoot {
		return nil
	}
	return &kubevirtv1.Features{SMM: &kubevirtv1.FeatureState{Enabled: new(true)}}
}
