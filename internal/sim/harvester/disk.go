// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// lookAtDisks finds out which disks the guest sees: each bus counts its own letters, in the
// order of the disks, those with cloud-init data included.
func (r *machines) lookAtDisks(ctx context.Context, namespace string, spec *kubevirtv1.VirtualMachineInstanceSpec, g *guest) (*obstacle, error) {
	count, boot := map[string]int{}, bootVolume(spec)
	for _, d := range spec.Domain.Devices.Disks {
		if d.Disk == nil {
			continue // a CD-ROM has no letter
		}
		transport, prefix := "virtio", "/dev/vd"
		if d.Disk.Bus != "" && d.Disk.Bus != kubevirtv1.DiskBusVirtio {
			transport, prefix = string(d.Disk.Bus), "/dev/sd"
		}
		size, err := r.sizeOf(ctx, namespace, spec, d.Name)
		if err != nil {
			return nil, err
		}
		g.spec.Disks = append(g.spec.Disks, datacenter.Disk{
			Device: prefix + string(rune('a'+count[prefix])), SizeBytes: size, Serial: d.Serial, Transport: transport, ReadOnly: d.Disk.ReadOnly,
			System: boot != nil && boot.Name == d.Name,
		})
		count[prefix]++
	}
	return nil, nil
}

// sizeOf returns the size of a volume; that of one without a claim is not known.
func (r *machines) sizeOf(ctx context.Context, namespace string, spec *kubevirtv1.VirtualMachineInstanceSpec, volume string) (uint64, error) {
	for _, v := range spec.Volumes {
		if v.Name != volume || claimOf(v) == "" {
			continue
		}
		claim := &corev1.PersistentVolumeClaim{}
		if err := r.Get(ctx, client.ObjectKey{Namespace: namespace, Name: claimOf(v)}, claim); err != nil {
			return 0, client.IgnoreNotFound(err)
		}
		return uint64(claim.Spec.Resources.Requests.Storage().Value()), nil
	}
	return 0, nil
}
