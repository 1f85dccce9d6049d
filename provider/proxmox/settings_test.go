// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// TestSettingsAreReadAsTexts: Proxmox VE writes some numbers as texts.
func TestSettingsAreReadAsTexts(t *testing.T) {
	var s settings
	err := json.Unmarshal([]byte(`{"cores":4,"memory":"4096","onboot":1,"numa":false,"digest":"abc","cpulimit":1.5}`), &s)
	want := settings{"cores": "4", "memory": "4096", "onboot": "1", "numa": "0", "digest": "abc", "cpulimit": "1.5"}
	if diff := cmp.Diff(want, s); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	var numbers []number
	err = json.Unmarshal([]byte(`[1, "2", 3.7, null, "", true, "1.5"]`), &numbers)
	if diff := cmp.Diff([]number{1, 2, 3, 0, 0, 1, 1}, numbers); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestTheDiskThatBoots(t *testing.T) {
	for name, c := range map[string]struct {
		settings
		slot string
		gb   int64
	}{
		"boot order":           {settings{"boot": "order=scsi1;ide2;net0", "scsi1": "a:vm-1-disk-1,size=10G", "scsi0": "a:vm-1-disk-0,size=4M"}, "scsi1", 10},
		"a CD-ROM first":       {settings{"boot": "order=ide2;virtio0", "ide2": "local:iso/x.iso,media=cdrom", "virtio0": "a:vm-1-disk-0,size=1500M"}, "virtio0", 2},
		"old boot disk":        {settings{"boot": "c", "bootdisk": "sata0", "sata0": "file=a:vm-1-disk-0,size=1T"}, "sata0", 1024},
		"nothing but the disk": {settings{"scsi0": "a:vm-1-disk-0"}, "scsi0", 0},
		"cloud-init alone":     {settings{"scsi0": "a:vm-1-cloudinit,media=cdrom"}, "", 0},
	} {
		d, ok := c.root()
		if d.slot != c.slot || ok != (c.slot != "") || ok && d.gigabytes() != c.gb {
			t.Errorf("%s: %s of %d GB", name, d.slot, d.gigabytes())
		}
	}
}

// wanted configures a clone and returns what is sent.
func wanted(t *testing.T, have settings, change func(*machines, *provider.MachineSpec)) map[string]any {
	t.Helper()
	p := &platform{}
	p.spec = v1alpha1.ProxmoxSpec{Storage: "local-lvm", Bridge: "vmbr1"}
	m := machines{p}
	s := provider.MachineSpec{CPU: 4, MemoryMB: 8192, DiskGB: 20, Role: v1alpha1.RoleWorker}
	s.Name, s.Owner.ID = "mgmt-w-0", "owner"
	if change != nil {
		change(&m, &s)
	}
	v := &vm{resource: resource{Node: "pve1", VMID: 200}, mark: mark{vmid: 200, node: "pve1"}, settings: have}
	iso := ""
	if s.UserData != "" {
		iso = "local:iso/x.iso"
	}
	all, err := m.wantedSettings("create", s, v, iso)
	if err != nil {
		t.Fatal(err)
	}
	return have.differing(all)
}

func cloneOf() settings {
	return settings{
		"boot": "order=virtio0", "virtio0": "local-lvm:vm-200-disk-0,size=20G", "net0": "virtio=BC:24:11:00:00:01,bridge=vmbr0,firewall=1",
		"cores": "2", "sockets": "1", "memory": "2048", "agent": "1,fstrim_cloned_disks=1", "ide2": "local-lvm:vm-200-cloudinit,media=cdrom", "tags": "talos",
	}
}

func TestAClonedVMIsConfigured(t *testing.T) {
	const tags = "butler-machine.mgmt-w-0;butler-new;butler-node.pve1;butler-owner-id.owner;butler-role.worker;butler-vmid.200"
	want := map[string]any{
		"cores": "4", "cpu": "host", "memory": "8192", "balloon": "0", "onboot": "1", "serial0": "socket", "tags": tags, "ipconfig0": "ip=dhcp",
		"net0": "virtio=" + macOf("owner") + ",bridge=vmbr1,firewall=1", "virtio0": "local-lvm:vm-200-disk-0,size=20G,serial=root",
	}
	if diff := cmp.Diff(want, wanted(t, cloneOf(), nil)); diff != "" {
		t.Error(diff)
	}
	// What Proxmox VE answers then, in an order of its own.
	done := cloneOf()
	for name, value := range want {
		done[name], _ = value.(string)
	}
	done["tags"] = "butler-vmid.200;butler-role.worker;butler-owner-id.owner,butler-node.pve1 butler-machine.mgmt-w-0 butler-new"
	done["net0"] = "virtio=" + macOf("owner") + ",firewall=1,bridge=vmbr1"
	done["virtio0"] = "local-lvm:vm-200-disk-0,serial=root,size=20G"
	if again := wanted(t, done, nil); len(again) > 0 {
		t.Errorf("it is configured again: %v", again)
	}
}

func TestDisksAndUserDataOfAClone(t *testing.T) {
	for name, c := range map[string]struct {
		have   func(settings)
		change func(*machines, *provider.MachineSpec)
		want   map[string]any
	}{
		"extra disks": {
			func(s settings) { s["virtio1"] = "local-lvm:vm-200-disk-1,size=1G" },
			func(_ *machines, s *provider.MachineSpec) {
				s.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 3}, {SizeGB: 5, StorageClass: "ceph"}}
			},
			map[string]any{"virtio2": "local-lvm:3,serial=disk-1", "virtio3": "ceph:5,serial=disk-2"},
		},
		"one disk is there": {
			func(s settings) { s["virtio1"] = "local-lvm:vm-200-disk-1,size=3G,serial=disk-1" },
			func(_ *machines, s *provider.MachineSpec) {
				s.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 3}, {SizeGB: 5}}
			},
			map[string]any{"virtio1": nil, "virtio2": "local-lvm:5,serial=disk-2"},
		},
		"user data replaces the drive of Proxmox VE": {
			nil, func(_ *machines, s *provider.MachineSpec) { s.UserData = "x" },
			map[string]any{"ide2": "local:iso/x.iso,media=cdrom", "ipconfig0": nil},
		},
		"an address": {
			nil, func(_ *machines, s *provider.MachineSpec) {
				s.Network = network("10.40.0.61/16", "10.40.0.1", "10.40.0.2", "10.40.0.3")
			},
			map[string]any{"ide2": nil, "ipconfig0": "ip=10.40.0.61/16,gw=10.40.0.1", "nameserver": "10.40.0.2 10.40.0.3"},
		},
		"an address of IPv6": {
			nil, func(_ *machines, s *provider.MachineSpec) { s.Network = network("fd00:40::61/64", "fd00:40::1") },
			map[string]any{"ipconfig0": "ip6=fd00:40::61/64,gw6=fd00:40::1", "nameserver": nil},
		},
		"an address instead of that of the template": {
			func(s settings) { s["ipconfig0"] = "ip=10.40.0.61/16,gw=10.40.0.1" },
			func(_ *machines, s *provider.MachineSpec) { s.Network = network("10.40.0.61/16", "") },
			map[string]any{"ipconfig0": "ip=10.40.0.61/16"},
		},
		"an address and user data are on one drive": {
			nil, func(_ *machines, s *provider.MachineSpec) {
				s.UserData, s.Network = "x", network("10.40.0.61/16", "10.40.0.1")
			},
			map[string]any{"ide2": "local:iso/x.iso,media=cdrom", "ipconfig0": nil},
		},
		"no drive yet": {
			func(s settings) { delete(s, "ide2") }, nil, map[string]any{"ide2": "local-lvm:cloudinit", "ipconfig0": "ip=dhcp"},
		},
		"the slot is taken": {
			func(s settings) { s["ide2"] = "local:iso/drivers.iso,media=cdrom" }, nil, map[string]any{"ide2": nil, "ide0": "local-lvm:cloudinit"},
		},
		"VLAN and type of processor": {
			nil, func(m *machines, _ *provider.MachineSpec) {
				m.spec.VLAN, m.spec.CPUType, m.spec.Bridge = 40, "x86-64-v3", ""
			},
			map[string]any{"cpu": "x86-64-v3", "net0": "virtio=" + macOf("owner") + ",bridge=vmbr0,firewall=1,tag=40"},
		},
	} {
		have := cloneOf()
		if c.have != nil {
			c.have(have)
		}
		got := wanted(t, have, c.change)
		for setting, want := range c.want {
			if got[setting] != want {
				t.Errorf("%s: %s is set to %v, want %v", name, setting, got[setting], want)
			}
		}
	}
}

func TestASerialNumberThatTalosSees(t *testing.T) {
	have := settings{"scsi0": "a:1,serial=root", "virtio1": "a:2,serial=disk-1", "virtio2": "a:3", "ide2": "b:iso/x.iso,media=cdrom"}
	if diff := cmp.Diff([]v1alpha1.MachineDisk{{Name: "disk-1", Serial: "disk-1"}}, disksOf(have)); diff != "" {
		t.Error(diff)
	}
}
