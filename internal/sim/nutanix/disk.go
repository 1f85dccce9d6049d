// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// completeDisks gives the disks of a VM their identity, place and size, and adds the drive
// with the configuration of the guest.
func (p *Prism) completeDisks(e *entity, cluster string) error {
	r := e.resources()
	taken := map[string]bool{}
	for _, d := range r.subs("disk_list") {
		a := d.sub("device_properties").sub("disk_address")
		taken[address(a.str("adapter_type"), a.num("device_index"))] = len(a) > 0
	}
	for _, d := range r.subs("disk_list") {
		if err := p.completeDisk(d, cluster, taken); err != nil {
			return err
		}
	}
	if len(r.sub("guest_customization")) > 0 && !slices.ContainsFunc(r.subs("disk_list"), isConfigDrive) {
		drive := object{
			"device_properties": object{"device_type": "CDROM", "disk_address": object{"adapter_type": "IDE", "device_index": next("IDE", taken)}},
			"disk_size_bytes":   configDriveBytes, "disk_size_mib": 1,
		}
		r["disk_list"] = append(r["disk_list"].([]any), drive)
		return p.completeDisk(drive, cluster, taken)
	}
	return nil
}

// configDriveBytes is the size of the drive that the platform writes for cloud-init.
const configDriveBytes = 382976

func isConfigDrive(d object) bool {
	return d.sub("device_properties").str("device_type") == "CDROM" && d.num("disk_size_bytes") == configDriveBytes
}

func address(adapter string, index int) string { return fmt.Sprint(adapter, ".", index) }

// next returns the first free place at an adapter, and takes it.
func next(adapter string, taken map[string]bool) int {
	for i := 0; ; i++ {
		if at := address(adapter, i); !taken[at] {
			taken[at] = true
			return i
		}
	}
}

func (p *Prism) completeDisk(d object, cluster string, taken map[string]bool) error {
	d.fill(object{"uuid": newUUID(), "device_properties": object{}})
	device := d.sub("device_properties")
	device.fill(object{"device_type": "DISK"})
	if !device.has("disk_address") {
		adapter := "SCSI"
		if device.str("device_type") == "CDROM" {
			adapter = "IDE"
		}
		device["disk_address"] = object{"adapter_type": adapter, "device_index": next(adapter, taken)}
	}
	size := cmp.Or(d.num("disk_size_bytes"), d.num("disk_size_mib")<<20)
	size, err := p.imageSize(d, cluster, size)
	if err != nil {
		return err
	}
	if size == 0 {
		return nil // an empty drive
	}
	d["disk_size_bytes"], d["disk_size_mib"] = size, bytesToMiB(size)
	return p.completeContainer(d, cluster)
}

// imageSize returns the size of a disk: its own, or that of its image, which it is not
// smaller than.
func (p *Prism) imageSize(d object, cluster string, size int) (int, error) {
	id := d.sub("data_source_reference").str("uuid")
	if id == "" {
		return size, nil
	}
	image := p.st.get(kindImage, id)
	switch {
	case image == nil || !image.Exists:
		return 0, failure("INVALID_ARGUMENT", "Given input is invalid. Image %s does not exist.", id)
	case !slices.ContainsFunc(image.Status.subs("current_cluster_reference_list"), func(o object) bool { return o.str("uuid") == cluster }):
		return 0, failure("INVALID_ARGUMENT", "Given input is invalid. Image %s is not available on cluster %s.", image.name(), cluster)
	}
	least := image.Status.num("size_bytes")
	if size > 0 && size < least {
		return 0, failure("INVALID_ARGUMENT", "Given input is invalid. The size of the disk, %d bytes, is less than that of image %s, %d bytes.", size, image.name(), least)
	}
	return max(size, least), nil
}

// completeContainer puts a disk into its storage container, or into that of the cluster for
// disks without one.
func (p *Prism) completeContainer(d object, cluster string) error {
	asked := d.sub("storage_config").sub("storage_container_reference").str("uuid")
	for _, one := range p.st.all(kindContainer) {
		in := one.Spec.sub("cluster_reference").str("uuid")
		if in == cluster && (one.UUID == asked || asked == "" && one.name() == defaultContainer) {
			d.fill(object{"storage_config": object{}})
			d.sub("storage_config")["storage_container_reference"] = reference(kindContainer, one.UUID, one.name())
			return nil
		}
	}
	return failure("INVALID_ARGUMENT", "Given input is invalid. Storage container %s does not exist on cluster %s.", asked, cluster)
}

// defaultContainer is where disks are that name none.
const defaultContainer = "SelfServiceContainer"

// bootImage returns the image of the disk that a VM boots from; nil: it has none, and
// nothing boots.
func (p *Prism) bootImage(e *entity) (*entity, string) {
	for _, d := range e.resources().subs("disk_list") {
		if image := p.st.get(kindImage, d.sub("data_source_reference").str("uuid")); image != nil && image.resources().str("image_type") == "DISK_IMAGE" {
			return image, d.str("uuid")
		}
	}
	return nil, ""
}

// guestDisks are the disks of a VM as its guest sees them. A SCSI disk is a vDisk behind a
// virtio controller, at the target of its index. Linux has no serial number of it where
// Talos looks, but the name of the vDisk, which the API does not show.
func (p *Prism) guestDisks(e *entity) (out []datacenter.Disk) {
	_, boot := p.bootImage(e)
	letters := map[string]int{}
	for _, d := range e.resources().subs("disk_list") {
		at := d.sub("device_properties").sub("disk_address")
		if d.sub("device_properties").str("device_type") != "DISK" {
			continue
		}
		one := datacenter.Disk{SizeBytes: uint64(d.num("disk_size_bytes")), System: d.str("uuid") == boot, Transport: "virtio", Model: "VDISK"}
		prefix, index := "/dev/sd", at.num("device_index")
		switch at.str("adapter_type") {
		case "SCSI":
			one.WWID = "naa.6506b8d" + vdisk(d.str("uuid"))
			one.BusPath = fmt.Sprintf("/pci0000:00/0000:00:05.0/virtio1/host2/target2:0:%d/2:0:%d:0", index, index)
		case "PCI":
			prefix, one.Model, one.BusPath = "/dev/vd", "", fmt.Sprintf("/pci0000:00/0000:00:%02x.0/virtio%d", 6+index, 2+index)
		default:
			one.Transport, one.Model = "sata", "QEMU HARDDISK"
			one.BusPath = fmt.Sprintf("/pci0000:00/0000:00:07.0/ata%d/host%d/target%d:0:0/%d:0:0:0", 1+index, 3+index, 3+index, 3+index)
		}
		one.Device = prefix + string(rune('a'+letters[prefix]))
		letters[prefix]++
		out = append(out, one)
	}
	return out
}
