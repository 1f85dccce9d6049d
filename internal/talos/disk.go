// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"fmt"
	"path"
	"strconv"

	"github.com/siderolabs/talos/pkg/machinery/cel"
	"github.com/siderolabs/talos/pkg/machinery/cel/celenv"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/container"
	"github.com/siderolabs/talos/pkg/machinery/config/types/block"
	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
)

const mountRoot = "/var/mnt"

// ExtraDisks returns n disks that follow the install disk in the platform's
// naming (/dev/vdb after /dev/vda), called disk-1, disk-2, …
func ExtraDisks(installDisk string, n int) ([]Disk, error) {
	if installDisk == "" {
		installDisk = defaultInstallDisk
	}
	last := installDisk[len(installDisk)-1]
	if n > 0 && (last < 'a' || int(last)+n > 'z') {
		return nil, fmt.Errorf("cannot name %d disks after install disk %s: want a name such as /dev/vda", n, installDisk)
	}
	var disks []Disk
	for i := 1; i <= n; i++ {
		device := installDisk[:len(installDisk)-1] + string(rune(int(last)+i))
		disks = append(disks, Disk{Name: "disk-" + strconv.Itoa(i), Device: device})
	}
	return disks, nil
}

func withDisks(cfg config.Provider, contract *config.VersionContract, disks []Disk) (config.Provider, error) {
	if len(disks) == 0 {
		return cfg, nil
	}
	if !contract.Greater(config.TalosVersion1_9) {
		return withLegacyDisks(cfg, disks)
	}
	documents := cfg.Clone().Documents()
	for _, disk := range disks {
		volume, err := userVolume(disk)
		if err != nil {
			return nil, err
		}
		documents = append(documents, volume)
	}
	return container.New(documents...)
}

// userVolume takes the whole disk: a disk that was asked for is there for
// one purpose.
func userVolume(disk Disk) (*block.UserVolumeConfigV1Alpha1, error) {
	match, err := cel.ParseBooleanExpression(fmt.Sprintf("disk.dev_path == %q", disk.Device), celenv.DiskLocator())
	if err != nil {
		return nil, fmt.Errorf("extra disk %s: %w", disk.Device, err)
	}
	volume := block.NewUserVolumeConfigV1Alpha1()
	volume.MetaName = disk.Name
	volume.ProvisioningSpec.DiskSelectorSpec.Match = match
	volume.ProvisioningSpec.ProvisioningGrow = new(true)
	volume.ProvisioningSpec.ProvisioningMinSize = block.MustByteSize("100MiB")
	return volume, nil
}

func withLegacyDisks(cfg config.Provider, disks []Disk) (config.Provider, error) {
	return cfg.PatchV1Alpha1(func(doc *v1alpha1.Config) error {
		for _, disk := range disks {
			mount := path.Join(mountRoot, disk.Name)
			partitioned := &v1alpha1.MachineDisk{
				DeviceName:     disk.Device,
				DiskPartitions: []*v1alpha1.DiskPartition{{DiskMountPoint: mount}},
			}
			doc.MachineConfig.MachineDisks = append(doc.MachineConfig.MachineDisks, partitioned) //nolint:staticcheck // the only way before 1.10
			kubelet := doc.MachineConfig.MachineKubelet
			kubelet.KubeletExtraMounts = append(kubelet.KubeletExtraMounts, kubeletMount(mount))
		}
		return nil
	})
}

// kubeletMount shows a mount to the kubelet, which runs in a container; user
// volumes of later versions do this by themselves.
func kubeletMount(dir string) v1alpha1.ExtraMount {
	return v1alpha1.ExtraMount{Destination: dir, Type: "bind", Source: dir, Options: []string{"bind", "rshared", "rw"}}
}
