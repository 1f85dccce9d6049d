// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// settingTable are the options of a guest's configuration: name, who may set it, type. A
// privilege is without its VM.Config; root: none but root has it, drive, tagging, serial: it
// depends on the value.
const settingTable = `
cores CPU integer:1..
cpu CPU cpu
cpulimit CPU number:0..128
cpuunits CPU integer:1..262144
numa CPU boolean
smp CPU integer:1..
sockets CPU integer:1..
vcpus CPU integer:1..
memory Memory memory
balloon Memory integer:0..
shares Memory integer:0..50000
allow-ksm Memory boolean
acpi HWType boolean
hotplug HWType hotplug
kvm HWType boolean
machine HWType machine-type
scsihw HWType enum:lsi|lsi53c810|virtio-scsi-pci|virtio-scsi-single|megasas|pvscsi
smbios1 HWType smbios1 max=512
tablet HWType boolean
vga HWType vga
rng0 HWType rng
agent Options agent
autostart Options boolean
bios Options enum:seabios|ovmf
description Options string max=8192
localtime Options boolean
migrate_downtime Options number:0..
migrate_speed Options integer:0..
name Options dns-name
onboot Options boolean
ostype Options enum:other|wxp|w2k|w2k3|w2k8|wvista|win7|win8|win10|win11|l24|l26|solaris
protection Options boolean
reboot Options boolean
startdate Options re:now|\d{4}-\d{1,2}-\d{1,2}(T\d{1,2}:\d{1,2}:\d{1,2})?
startup Options startup
tdf Options boolean
template Options boolean
freeze VM.PowerMgmt boolean
boot Disk boot
bootdisk Disk re:(?:ide|sata|scsi|virtio)\d+
vmstatestorage Disk storage-id
cicustom Cloudinit cicustom
cipassword Cloudinit string
citype Cloudinit enum:configdrive2|nocloud|opennebula
ciuser Cloudinit string
ciupgrade Cloudinit boolean
nameserver Cloudinit address-list
searchdomain Cloudinit string
sshkeys Cloudinit urlencoded
tags tagging tag-list
cdrom drive drive-ide
args root string
lock root enum:backup|clone|create|migrate|rollback|snapshot|snapshot-delete|suspending|suspended
hookscript root volume-id
affinity root re:\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*
hugepages root enum:any|2|1024
keephugepages root boolean
arch root enum:x86_64|aarch64
vmgenid root re:(?:[a-fA-F0-9]{8}(?:-[a-fA-F0-9]{4}){3}-[a-fA-F0-9]{12}|[01])
efidisk0 drive drive-efidisk
tpmstate0 drive drive-tpmstate
`

// numbered are the options of which a guest has several: how many, who may set them, type.
const numberedTable = `
net 32 Network net
ipconfig 32 Cloudinit ipconfig
ide 4 drive drive-ide
sata 6 drive drive-sata
scsi 31 drive drive-scsi
virtio 16 drive drive-virtio
unused 256 drive drive-unused
serial 4 serial re:/dev/.+|socket
`

// setting is an option of a guest's configuration.
type setting struct {
	*field
	right string
}

// settings are all options by name.
var settings = sync.OnceValue(func() map[string]setting {
	out := map[string]setting{}
	add := func(name, right, types string) {
		out[name] = setting{parseSchema(name + " " + types).fields[name], right}
	}
	for line := range strings.SplitSeq(strings.TrimSpace(settingTable), "\n") {
		words := strings.SplitN(line, " ", 3)
		add(words[0], words[1], words[2])
	}
	for line := range strings.SplitSeq(strings.TrimSpace(numberedTable), "\n") {
		words := strings.SplitN(line, " ", 4)
		count := 0
		_, _ = fmt.Sscan(words[1], &count) // the table has numbers
		for i := range count {
			add(fmt.Sprint(words[0], i), words[2], words[3])
		}
	}
	return out
})

// settingSchema is that of the parameters that set options.
var settingSchema = sync.OnceValue(func() *schema {
	s := &schema{fields: map[string]*field{}}
	for name, one := range settings() {
		s.fields[name] = one.field
	}
	return s
})

var driveName = regexp.MustCompile(`^(?:ide|sata|scsi|virtio|efidisk|tpmstate|unused)\d+$`)

// isDrive reports whether an option is a disk or a CD-ROM that a guest has or, unused, had.
func isDrive(name string) bool { return driveName.MatchString(name) }

// inUse reports whether a drive is attached.
func inUse(name string) bool { return isDrive(name) && !strings.HasPrefix(name, "unused") }

// parseDrive reads a drive option that was checked before. Other options have no parts.
func parseDrive(name, value string) map[string]string {
	if !isDrive(name) {
		return nil
	}
	parts, _ := parseOption(settings()[name].format, name, value)
	return parts
}

func printDrive(name string, parts map[string]string) string {
	return printOption(settings()[name].format, parts)
}

// isCDROM reports whether a drive is a CD-ROM, the one of cloud-init included.
func isCDROM(drive map[string]string) bool { return drive["media"] == "cdrom" }

var cloudinitVolume = regexp.MustCompile(`[:/]vm-\d+-cloudinit(?:\.[a-z0-9]+)?$`)

// isCloudinit reports whether a drive is the one that the platform writes cloud-init data to.
func isCloudinit(drive map[string]string) bool { return cloudinitVolume.MatchString(drive["file"]) }
