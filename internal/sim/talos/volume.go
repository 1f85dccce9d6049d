// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/cosi-project/runtime/pkg/state"
	blockapi "github.com/siderolabs/talos/pkg/machinery/api/resource/definitions/block"
	"github.com/siderolabs/talos/pkg/machinery/cel"
	"github.com/siderolabs/talos/pkg/machinery/cel/celenv"
	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// leastVolume is the size of a user volume that asks for none.
const leastVolume = 100 << 20

// createVolumes creates the status of each user volume: ready on the disk that its
// selector finds, or failed.
func (n *node) createVolumes(ctx context.Context, resources state.State) error {
	free := map[string]uint64{}
	for _, d := range disksOf(n.machine) {
		free[d.Device] = d.SizeBytes
	}
	for _, v := range n.config.UserVolumeConfigs() {
		status := block.NewVolumeStatus(block.NamespaceName, constants.UserVolumePrefix+v.Name())
		device, err := n.place(v, free)
		*status.TypedSpec() = block.VolumeStatusSpec{Phase: block.VolumePhaseReady, Type: block.VolumeTypePartition, ParentLocation: device}
		if err != nil {
			n.log.Error("talos cannot provision a volume", "volume", v.Name(), "error", err)
			*status.TypedSpec() = block.VolumeStatusSpec{Phase: block.VolumePhaseFailed, Type: block.VolumeTypePartition, ErrorMessage: err.Error()}
		}
		if err := resources.Create(ctx, status); err != nil {
			return err
		}
	}
	return nil
}

// place finds a disk for a volume and takes the volume's part of it: all of it if the
// volume grows.
func (n *node) place(v config.UserVolumeConfig, free map[string]uint64) (string, error) {
	match, ok := v.Provisioning().DiskSelector().Get()
	if !ok {
		return "", errors.New("no disks matched selector for volume")
	}
	matched, err := n.matching(match)
	if err != nil || len(matched) == 0 {
		return "", errors.Join(err, errors.New("no disks matched selector for volume"))
	}
	least := cmp.Or(v.Provisioning().MinSize().ValueOrZero(), leastVolume)
	for _, d := range matched {
		if free[d.Device] < least {
			continue
		}
		free[d.Device] -= least
		if most := v.Provisioning().MaxSize().ValueOrZero(); v.Provisioning().Grow().ValueOrZero() {
			free[d.Device] = leftOf(d.SizeBytes, most)
		}
		return d.Device, nil
	}
	return "", fmt.Errorf("no disks matched for volume (%d matched selector): %d have not enough space", len(matched), len(matched))
}

// leftOf is what a volume that grows up to most leaves of a disk; 0 means without bound.
func leftOf(size, most uint64) uint64 {
	if most == 0 || most > size {
		return 0
	}
	return size - most
}

// matching are the disks that can be written and that an expression selects.
func (n *node) matching(match cel.Expression) (out []datacenter.Disk, err error) {
	for _, d := range disksOf(n.machine) {
		if d.ReadOnly {
			continue
		}
		ok, err := match.EvalBool(celenv.DiskLocator(), map[string]any{
			"disk": &blockapi.DiskSpec{
				Size: d.SizeBytes, Model: d.Model, Serial: d.Serial, Wwid: d.WWID, Transport: d.Transport, DevPath: d.Device, BusPath: d.BusPath,
				SectorSize: 512, IoSize: 512, Symlinks: symlinks(d),
			},
			"system_disk": d.System,
		})
		if err != nil {
			return nil, fmt.Errorf("error evaluating disk locator: %w", err)
		}
		if ok {
			out = append(out, d)
		}
	}
	return out, nil
}
