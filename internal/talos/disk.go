// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"fmt"
	"path"

	"github.com/siderolabs/talos/pkg/machinery/cel"
	"github.com/siderolabs/talos/pkg/machinery/cel/celenv"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/container"
	"github.com/siderolabs/talos/pkg/machinery/config/types/block"
	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
)

const mountRoot = "/var/mnt"

// FindsDisks reports whether Talos of a version finds a disk by what it is. An earlier
// one needs the path of its device.
func FindsDisks(talosVersion string) bool {
	contract, err := versionContract(talosVersion)
	return err == nil && findsDisks(contract)
}

func findsDisks(contract *config.VersionContract) bool {
	return contract.Greater(config.TalosVersion1_9)
}

func withDisks(cfg config.Provider, contract *config.VersionContract, disks []Disk) (config.Provider, error) {
	if len(disks) == 0 {
		return cfg, nil
	}
	if !findsDisks(contract) {
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
	match, err := cel.ParseBooleanExpression(disk.selector(), celenv.DiskLocator())
	if err != nil {
		return nil, fmt.Errorf("extra disk %s: %w", disk.Name, err)
	}
	volume := block.NewUserVolumeConfigV1Alpha1()
	volume.MetaName = disk.Name
	volume.ProvisioningSpec.DiskSelectorSpec.Match = match
	volume.ProvisioningSpec.ProvisioningGrow = new(true)
	volume.ProvisioningSpec.ProvisioningMinSize = block.MustByteSize("100MiB")
	return volume, nil
}

// selector is the expression that finds the disk. Of several disks of one size, each
// volume takes another: the first has filled its own.
func (d Disk) selector() string {
	switch {
	case d.Match != "":
		return d.Match
	case d.Serial != "":
		return fmt.Sprintf("disk.serial == %q", d.Serial)
	}
	return "!system_disk && " + ofSize(d.SizeGB)
}

func ofSize(gb int32) string {
	return fmt.Sprintf("disk.size >= %du * GiB && disk.size < %du * GiB", gb, gb+1)
}

func withLegacyDisks(cfg config.Provider, disks []Disk) (config.Provider, error) {
	return cfg.PatchV1Alpha1(func(doc *v1alpha1.Config) error {
		for _, disk := range disks {
			if disk.Path == "" {
				return fmt.Errorf("extra disk %s: the machine does not report its serial number, and this version of Talos finds disks by path alone; use Talos 1.10 or later", disk.Name)
			}
			mount := path.Join(mountRoot, disk.Name)
			partitioned := &v1alpha1.MachineDisk{
				DeviceName:     disk.Path,
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
