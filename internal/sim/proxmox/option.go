// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// driveParts are the parts of every drive option.
const driveParts = `
file!* drive-file
volume =file
media enum:cdrom|disk
snapshot boolean
cache enum:none|writethrough|writeback|unsafe|directsync
format enum:raw|qcow|qed|qcow2|vmdk|cloop
size disk-size
backup boolean
replicate boolean
rerror enum:ignore|report|stop
werror enum:enospc|ignore|report|stop
aio enum:native|threads|io_uring
discard enum:ignore|on
detect_zeroes boolean
serial urlencoded max=60
shared boolean
import-from string
bps integer
bps_rd integer
bps_wr integer
mbps number
mbps_rd number
mbps_wr number
iops integer
iops_rd integer
iops_wr integer
mbps_max number
mbps_rd_max number
mbps_wr_max number
iops_max integer
iops_rd_max integer
iops_wr_max integer
`

// The parts that drives have depending on their bus.
const (
	ssdParts   = "ssd boolean\nwwn re:0x[0-9a-fA-F]{16}"
	ideParts   = "model urlencoded max=120\n" + ssdParts
	virtParts  = "iothread boolean\nro boolean"
	scsiParts  = virtParts + "\nqueues integer:2..\nscsiblock boolean\nproduct re:[A-Za-z0-9\\-_\\s]{0,16}\nvendor re:[A-Za-z0-9\\-_\\s]{0,8}\n" + ssdParts
	stateParts = "file!* drive-file\nvolume =file\nformat enum:raw|qcow|qed|qcow2|vmdk|cloop\nsize disk-size\nimport-from string"
)

// netParts are the parts of a network device.
const netParts = `
model!* enum:` + netModels + `
macaddr mac-addr
bridge bridge-id
queues integer:0..64
rate number:0..
tag integer:1..4094
trunks re:\d+(?:-\d+)?(?:;\d+(?:-\d+)?)*
firewall boolean
link_down boolean
mtu integer:1..65520
host-tunnel boolean
`

const netModels = "e1000|e1000-82540em|e1000-82544gc|e1000-82545em|e1000e|i82551|i82557b|i82559er|ne2k_isa|ne2k_pci|pcnet|rtl8139|virtio|vmxnet3"

// netAliases have the models as names of the address.
func netAliases() string {
	var lines []string
	for model := range strings.SplitSeq(netModels, "|") {
		lines = append(lines, model+" =model/macaddr")
	}
	return strings.Join(lines, "\n")
}

// optionSchemas are those of options that have parts.
var optionSchemas = sync.OnceValue(func() map[string]*schema {
	return map[string]*schema{
		"drive-ide":      parseSchema(driveParts, ideParts),
		"drive-sata":     parseSchema(driveParts, ssdParts),
		"drive-scsi":     parseSchema(driveParts, scsiParts),
		"drive-virtio":   parseSchema(driveParts, virtParts),
		"drive-efidisk":  parseSchema(stateParts, "efitype enum:2m|4m\npre-enrolled-keys boolean\nms-cert enum:2011|2023|2023w|2023k"),
		"drive-tpmstate": parseSchema(stateParts, "version enum:v1.2|v2.0"),
		"drive-unused":   parseSchema("file!* drive-file\nvolume =file"),
		"net":            parseSchema(netParts, netAliases()),
		"ipconfig":       parseSchema("ip ipv4-config\ngw ipv4 needs=ip\nip6 ipv6-config\ngw6 ipv6 needs=ip6"),
		"agent":          parseSchema("enabled!* boolean\nfstrim_cloned_disks boolean\nfreeze-fs boolean\nfreeze-fs-on-backup =freeze-fs\nguest-fsfreeze =freeze-fs\ntype enum:virtio|isa"),
		"memory":         parseSchema("current!* integer:16.."),
		"cpu":            parseSchema("cputype* cpu-model\nreported-model string\nhidden boolean\nhv-vendor-id re:[a-zA-Z0-9]{1,12}\nflags re:[+-][a-zA-Z0-9\\-_.]+(?:;[+-][a-zA-Z0-9\\-_.]+)*\nphys-bits re:host|\\d+\nguest-phys-bits integer:32..64"),
		"boot":           parseSchema("legacy* re:[acdn]{1,4}\norder boot-order"),
		"cicustom":       parseSchema("meta volume-id\nnetwork volume-id\nuser volume-id\nvendor volume-id"),
		"vga":            parseSchema("type* enum:cirrus|qxl|qxl2|qxl3|qxl4|none|serial0|serial1|serial2|serial3|std|virtio|virtio-gl|vmware\nmemory integer:4..512\nclipboard enum:vnc"),
		"smbios1":        parseSchema("uuid hex-uuid\nversion string\nserial string\nmanufacturer string\nproduct string\nsku string\nfamily string\nbase64 boolean"),
		"rng":            parseSchema("source!* enum:/dev/urandom|/dev/random|/dev/hwrng\nmax_bytes integer\nperiod integer"),
		"machine-type":   parseSchema("type* re:(?:pc|q35|virt)(?:-.+)?\nviommu enum:intel|virtio\nenable-s3 boolean\nenable-s4 boolean"),
	}
})

// parseOption reads an option with parts. The complaint is empty if it is in order.
func parseOption(name, path, value string) (parts map[string]string, complaint string) {
	s := optionSchemas()[name]
	if s == nil {
		return nil, "undefined format '" + name + "'\n"
	}
	parts = map[string]string{}
	for part := range strings.SplitSeq(value, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		if complaint := s.readPart(part, parts); complaint != "" {
			return nil, complaint
		}
	}
	wrong := problems{}
	s.check(path, parts, wrong)
	if len(wrong) == 0 {
		return parts, ""
	}
	complaint = "format error\n"
	for _, at := range slices.Sorted(maps.Keys(wrong)) {
		complaint += at + ": " + wrong[at] + "\n"
	}
	return nil, complaint
}

const inList = " in comma-separated list property"

func (s *schema) readPart(part string, parts map[string]string) (complaint string) {
	key, value, keyed := strings.Cut(part, "=")
	switch {
	case !keyed && s.defaultKey == "":
		return "value without key, but schema does not define a default key\n"
	case !keyed:
		key, value = s.defaultKey, part
	case key == "" || value == "":
		return "missing key" + inList + "\n"
	}
	if _, twice := parts[key]; twice {
		return "duplicate key" + inList + ": " + key + "\n"
	}
	f := s.fields[key]
	if f != nil && f.alias != "" {
		if f.keyAlias != "" {
			parts[f.keyAlias] = key
		}
		key = f.alias
		f = s.fields[key]
	}
	if f == nil {
		return "invalid key" + inList + ": " + key + "\n"
	}
	if f.kind == "boolean" {
		value = readBoolean(value)
	}
	parts[key] = value
	return ""
}

// readBoolean writes the words for true and false as digits.
func readBoolean(value string) string {
	switch strings.ToLower(value) {
	case "1", "on", "yes", "true":
		return "1"
	case "0", "off", "no", "false":
		return "0"
	}
	return value
}

// printOption writes an option: the default key first, then required ones, then the rest.
func printOption(name string, parts map[string]string) string {
	s := optionSchemas()[name]
	var out []string
	done := map[string]bool{}
	if value, set := parts[s.defaultKey]; set && s.defaultKey != "" {
		done[s.defaultKey] = true
		if mac, has := parts["macaddr"]; name == "net" && has {
			value, done["macaddr"] = value+"="+mac, true
		}
		out = append(out, value)
	}
	for _, required := range []bool{true, false} {
		for _, key := range slices.Sorted(maps.Keys(parts)) {
			if f := s.fields[key]; !done[key] && f != nil && f.required == required {
				done[key] = true
				out = append(out, key+"="+parts[key])
			}
		}
	}
	return strings.Join(out, ",")
}
