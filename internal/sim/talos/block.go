// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/talos/pkg/machinery/api/storage"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// disksOf are the disks of a machine as its guest sees them, one of which Talos is on.
func disksOf(m datacenter.Machine) []datacenter.Disk {
	if len(m.Disks) == 0 {
		return []datacenter.Disk{{Device: "/dev/vda", Model: "emulated", Transport: "virtio", System: true}}
	}
	all := slices.Clone(m.Disks)
	if !slices.ContainsFunc(all, func(d datacenter.Disk) bool { return d.System }) {
		all[0].System = true
	}
	return all
}

// longestSerial is how much of its serial number a virtio disk reports.
const longestSerial = 20

// symlinks are the paths of a disk that udev makes.
func symlinks(d datacenter.Disk) []string {
	const byID = "/dev/disk/by-id/"
	switch {
	case len(d.Links) > 0 || d.Serial == "":
		return d.Links
	case d.Transport == "virtio":
		return []string{byID + "virtio-" + d.Serial[:min(len(d.Serial), longestSerial)]}
	case d.Transport == "nvme":
		return []string{byID + "nvme-" + strings.ReplaceAll(d.Model, " ", "_") + "_" + d.Serial}
	}
	return nil
}

// checkUserDisks returns an error if a disk that the configuration names by its path is not
// there. Where the platform does not say which disks there are, none is missing.
func (n *node) checkUserDisks() error {
	if len(n.machine.Disks) == 0 {
		return nil
	}
	for _, wanted := range n.config.Machine().Disks() {
		if !slices.ContainsFunc(n.machine.Disks, func(d datacenter.Disk) bool {
			return d.Device == wanted.Device() || slices.Contains(symlinks(d), wanted.Device())
		}) {
			return fmt.Errorf("user disk %s: no such device", wanted.Device())
		}
	}
	return nil
}

// createDisks creates the resources of a machine's disks.
func createDisks(ctx context.Context, resources state.State, m datacenter.Machine) error {
	for _, d := range disksOf(m) {
		id := filepath.Base(d.Device)
		disk := block.NewDisk(block.NamespaceName, id)
		*disk.TypedSpec() = block.DiskSpec{
			DevPath: d.Device, Model: d.Model, Serial: d.Serial, WWID: d.WWID, Readonly: d.ReadOnly,
			Transport: d.Transport, SectorSize: 512, IOSize: 512, SubSystem: "/sys/class/block", BusPath: d.BusPath, Symlinks: symlinks(d),
		}
		disk.TypedSpec().SetSize(d.SizeBytes)
		if err := resources.Create(ctx, disk); err != nil {
			return err
		}
		if !d.System {
			continue
		}
		system := block.NewSystemDisk(block.NamespaceName, block.SystemDiskID)
		*system.TypedSpec() = block.SystemDiskSpec{DiskID: id, DevPath: d.Device}
		if err := resources.Create(ctx, system); err != nil {
			return err
		}
	}
	return nil
}

// disks is the storage service of a machine.
type disks struct {
	storage.UnimplementedStorageServiceServer
	machine datacenter.Machine
}

func (s disks) Disks(context.Context, *emptypb.Empty) (*storage.DisksResponse, error) {
	var all []*storage.Disk
	for _, d := range disksOf(s.machine) {
		kind, known := map[string]storage.Disk_DiskType{"nvme": storage.Disk_NVME, "": storage.Disk_UNKNOWN}[d.Transport]
		if !known {
			kind = storage.Disk_SSD
		}
		all = append(all, &storage.Disk{
			DeviceName: d.Device, Name: filepath.Base(d.Device), Model: cmp.Or(d.Model, "emulated"), Size: d.SizeBytes,
			Serial: d.Serial, Wwid: d.WWID, Type: kind, SystemDisk: d.System, Readonly: d.ReadOnly, BusPath: d.BusPath,
		})
	}
	return &storage.DisksResponse{Messages: []*storage.Disks{{Disks: all}}}, nil
}
