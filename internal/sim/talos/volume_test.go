// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	stateclient "github.com/cosi-project/runtime/pkg/state/protobuf/client"
	"github.com/siderolabs/talos/pkg/machinery/api/storage"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	simtalos "github.com/butlerdotdev/butler/internal/sim/talos"
	"github.com/butlerdotdev/butler/internal/talos"
)

const gib = 1 << 30

// ebs is a disk as EC2 instances have it.
func ebs(device, volume string, size uint64) datacenter.Disk {
	return datacenter.Disk{Device: device, SizeBytes: size, Serial: volume, Model: "Amazon Elastic Block Store", Transport: "nvme"}
}

func userVolume(name, match string) string {
	return "---\napiVersion: v1alpha1\nkind: UserVolumeConfig\nname: " + name +
		"\nprovisioning:\n  diskSelector:\n    match: " + match + "\n  grow: true\n  minSize: 10GiB\n"
}

func TestDisksAndVolumesOfANode(t *testing.T) {
	s := newSite(t, simtalos.Options{})
	config := string(s.config(t, "cp-0", talos.ControlPlane))
	config += userVolume("data", "'!system_disk && disk.size > 50u * GiB && disk.transport == \"nvme\"'")
	config += userVolume("more", "'!system_disk'")
	config += userVolume("serial", "'disk.serial == \"vol0002\"'")
	config += userVolume("letter", "'disk.dev_path == \"/dev/vdb\"'")
	m, err := s.datacenter.PowerOn(datacenter.Spec{
		ID: "i-1", Name: "cp-0", UserData: []byte(config), Metadata: &datacenter.Metadata{Platform: "aws"},
		Disks: []datacenter.Disk{ebs("/dev/nvme0n1", "vol0001", 80*gib), ebs("/dev/nvme1n1", "vol0002", 20*gib), ebs("/dev/nvme2n1", "vol0003", 100*gib)},
	})
	check(t, err)
	address := m.Address.Addr().String()
	s.awaitState(t, address, talos.StateConfigured)
	conn := s.connect(t, address, role.Reader)
	resources := state.WrapCore(stateclient.NewAdapter(cosi.NewStateClient(conn)))
	system, err := safe.StateGetByID[*block.SystemDisk](t.Context(), resources, block.SystemDiskID)
	check(t, err)
	disk, err := safe.StateGetByID[*block.Disk](t.Context(), resources, "nvme1n1")
	check(t, err)
	if d := disk.TypedSpec(); system.TypedSpec().DevPath != "/dev/nvme0n1" || d.Serial != "vol0002" || d.Size != 20*gib || d.Transport != "nvme" {
		t.Errorf("%+v, %+v", system.TypedSpec(), d)
	}
	for name, want := range map[string]string{"data": "/dev/nvme2n1", "more": "/dev/nvme1n1", "serial": "", "letter": ""} {
		v, err := safe.StateGetByID[*block.VolumeStatus](t.Context(), resources, "u-"+name)
		check(t, err)
		if got := v.TypedSpec(); got.ParentLocation != want || (got.Phase == block.VolumePhaseReady) != (want != "") || (got.ErrorMessage == "") != (want != "") {
			t.Errorf("%s: %+v, want on %q", name, got, want)
		}
	}
	listed, err := storage.NewStorageServiceClient(conn).Disks(t.Context(), &emptypb.Empty{})
	check(t, err)
	all := listed.GetMessages()[0].GetDisks()
	if len(all) != 3 || !all[0].GetSystemDisk() || all[2].GetDeviceName() != "/dev/nvme2n1" || all[2].GetType() != storage.Disk_NVME || all[2].GetSize() != 100*gib {
		t.Errorf("%v", all)
	}
}

// TestDisksOfCloudsAreFoundByTheirPlace has machines whose devices are in another order than
// their disks, and temporary disks that are as large as those with data.
func TestDisksOfCloudsAreFoundByTheirPlace(t *testing.T) {
	s := newSite(t, simtalos.Options{})
	google := func(nvme bool) []datacenter.Disk {
		return datacenter.GoogleDisks([]datacenter.GoogleDisk{
			{DeviceName: "root", SizeBytes: 100 * gib, Boot: true, NVMe: nvme}, {DeviceName: "disk-11", SizeBytes: 50 * gib, NVMe: nvme},
			{DeviceName: "disk-2", SizeBytes: 30 * gib, NVMe: nvme}, {DeviceName: "disk-1", SizeBytes: 20 * gib, NVMe: nvme},
		})
	}
	azure := func(nvme bool) []datacenter.Disk {
		return datacenter.AzureDisks{System: 100 * gib, Temporary: 20 * gib, Data: map[int32]uint64{0: 20 * gib, 1: 30 * gib, 11: 50 * gib}, NVMe: nvme}.Guest()
	}
	var nutanix []datacenter.Disk
	for i, index := range []int{0, 11, 2, 1} {
		nutanix = append(nutanix, datacenter.Disk{
			Device: "/dev/sd" + string(rune('a'+i)), SizeBytes: 20 * gib, Model: "VDISK", Transport: "virtio", System: index == 0,
			BusPath: fmt.Sprintf("/pci0000:00/0000:00:05.0/virtio1/host2/target2:0:%d/2:0:%d:0", index, index),
		})
	}
	for name, tc := range map[string]struct {
		disks []datacenter.Disk
		match []string
		want  []string
	}{
		"nutanix":    {nutanix, []string{talos.NutanixDisk(1), talos.NutanixDisk(2)}, []string{"/dev/sdd", "/dev/sdc"}},
		"gcp-scsi":   {google(false), []string{talos.GoogleDisk("disk-1", 20), talos.GoogleDisk("disk-2", 30)}, []string{"/dev/sdd", "/dev/sdc"}},
		"gcp-nvme":   {google(true), []string{talos.GoogleDisk("disk-1", 20), talos.GoogleDisk("disk-2", 30)}, []string{"/dev/nvme0n4", "/dev/nvme0n3"}},
		"azure-scsi": {azure(false), []string{talos.AzureDisk(0), talos.AzureDisk(1)}, []string{"/dev/sde", "/dev/sdd"}},
		"azure-nvme": {azure(true), []string{talos.AzureDisk(0), talos.AzureDisk(1)}, []string{"/dev/nvme1n2", "/dev/nvme1n3"}},
		"azure-size": {azure(false), []string{talos.AzureDisk(2)}, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			c := testCluster()
			c.TalosVersion, c.KubernetesVersion = "v1.10.0", ""
			node := talos.Node{Name: name, Role: talos.ControlPlane}
			for i, match := range tc.match {
				node.ExtraDisks = append(node.ExtraDisks, talos.Disk{Name: "disk-" + strconv.Itoa(i+1), Match: match})
			}
			config, err := talos.Config(s.secrets, c, node)
			check(t, err)
			m, err := s.datacenter.PowerOn(datacenter.Spec{ID: name, Name: name, UserData: config, Disks: tc.disks})
			check(t, err)
			s.awaitState(t, m.Address.Addr().String(), talos.StateConfigured)
			conn := s.connect(t, m.Address.Addr().String(), role.Reader)
			resources := state.WrapCore(stateclient.NewAdapter(cosi.NewStateClient(conn)))
			for i, want := range tc.want {
				v, err := safe.StateGetByID[*block.VolumeStatus](t.Context(), resources, "u-disk-"+strconv.Itoa(i+1))
				check(t, err)
				if got := v.TypedSpec().ParentLocation; got != want {
					t.Errorf("disk-%d is %q, want %q", i+1, got, want)
				}
			}
		})
	}
}

// TestUserDisksByPath is how Talos before 1.10 finds disks.
func TestUserDisksByPath(t *testing.T) {
	s := newSite(t, simtalos.Options{})
	virtio := func(device, serial string) datacenter.Disk {
		return datacenter.Disk{Device: device, Serial: serial, SizeBytes: 20 * gib, Transport: "virtio"}
	}
	for device, boots := range map[string]bool{
		"/dev/vdb": true, "/dev/disk/by-id/virtio-disk-1": true, "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol0002": true,
		"/dev/vdc": false, "/dev/disk/by-id/virtio-disk-2": false,
	} {
		c := testCluster()
		c.MergePatches = []talos.MergePatch{{YAML: "machine:\n  disks:\n    - device: " + device + "\n      partitions: [{mountpoint: /var/mnt/data}]\n"}}
		config, err := talos.Config(s.secrets, c, talos.Node{Name: "cp-0", Role: talos.ControlPlane})
		check(t, err)
		id := strings.ReplaceAll(strings.Trim(device, "/"), "/", "-")
		m, err := s.datacenter.PowerOn(datacenter.Spec{
			ID: id, Name: id, UserData: config,
			Disks: []datacenter.Disk{virtio("/dev/vda", "root"), virtio("/dev/vdb", "disk-1"), ebs("/dev/nvme0n1", "vol0002", 20*gib)},
		})
		check(t, err)
		address := m.Address.Addr().String()
		s.awaitState(t, address, talos.StateConfigured)
		eventually(t, func(ctx context.Context) bool {
			services, err := s.client.Services(ctx, address)
			up := slices.ContainsFunc(services, func(s talos.Service) bool { return s.ID == "kubelet" && s.Up() })
			return err == nil && up == boots && (boots || strings.Contains(s.log.String(), "user disk "+device))
		}, func() any { return device })
	}
}
