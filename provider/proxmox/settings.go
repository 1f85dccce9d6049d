// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// settings is the configuration of a VM. Numbers are read as texts.
type settings map[string]string

// UnmarshalJSON reads every value as a text.
func (s *settings) UnmarshalJSON(data []byte) error {
	var all map[string]any
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	*s = settings{}
	for name, value := range all {
		switch v := value.(type) {
		case string:
			(*s)[name] = v
		case float64:
			(*s)[name] = strconv.FormatFloat(v, 'f', -1, 64)
		case bool:
			(*s)[name] = map[bool]string{true: "1", false: "0"}[v]
		}
	}
	return nil
}

func vmPath(node string, vmid number) string { return fmt.Sprintf("/nodes/%s/qemu/%d", node, vmid) }

// readSettings reads the configuration that a VM has, or will have once it is started again.
func (p *platform) readSettings(ctx context.Context, node string, vmid number) (s settings, err error) {
	err = p.get(ctx, vmPath(node, vmid)+"/config", nil, &s)
	return s, err
}

// option is a value such as local-lvm:vm-200-disk-0,size=10G,serial=root: a first word and
// parameters in their order.
type option struct {
	first  string
	params [][2]string
}

func parseOption(text string) (o option) {
	for i, part := range strings.Split(text, ",") {
		name, value, named := strings.Cut(part, "=")
		switch {
		case i == 0 && (!named || name == "file"):
			if o.first = part; named {
				o.first = value
			}
		case part != "":
			o.params = append(o.params, [2]string{name, value})
		}
	}
	return o
}

// String is the inverse of parseOption.
func (o option) String() string {
	var parts []string
	if o.first != "" {
		parts = append(parts, o.first)
	}
	for _, p := range o.params {
		parts = append(parts, p[0]+"="+p[1])
	}
	return strings.Join(parts, ",")
}

func (o option) get(name string) string {
	for _, p := range o.params {
		if p[0] == name {
			return p[1]
		}
	}
	return ""
}

// with returns the option with a parameter set.
func (o option) with(name, value string) option {
	o.params = slices.Clone(o.params)
	for i := range o.params {
		if o.params[i][0] == name {
			o.params[i][1] = value
			return o
		}
	}
	o.params = append(o.params, [2]string{name, value})
	return o
}

// drive is a disk or CD-ROM of a VM.
type drive struct {
	slot string
	option
}

var slotForm = regexp.MustCompile(`^(virtio|scsi|sata|ide)(\d+)$`)

// drives returns those of a configuration, in the order of their slots.
func (s settings) drives() (all []drive) {
	for _, slot := range slices.Sorted(maps.Keys(s)) {
		if slotForm.MatchString(slot) {
			all = append(all, drive{slot, parseOption(s[slot])})
		}
	}
	return all
}

func (d drive) cdrom() bool { return d.get("media") == "cdrom" || d.cloudinit() }

// cloudinit reports whether Proxmox VE writes the content of the drive.
func (d drive) cloudinit() bool {
	return strings.HasSuffix(d.first, ":cloudinit") || strings.Contains(d.first, "-cloudinit")
}

// storage returns where the volume of a drive is; empty for one without a volume.
func (d drive) storage() string {
	storage, _, found := strings.Cut(d.first, ":")
	if !found {
		return ""
	}
	return storage
}

// gigabytes is the size of a disk, rounded up.
func (d drive) gigabytes() int64 { return (sizeOf(d.get("size")) + 1<<30 - 1) >> 30 }

var sizeForm = regexp.MustCompile(`^(\d+(?:\.\d+)?)([KMGT]?)$`)

// sizeOf reads a size in bytes; 0 means that it is not known.
func sizeOf(text string) int64 {
	m := sizeForm.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseFloat(m[1], 64) // digits
	return int64(n * float64(map[string]int64{"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}[m[2]]))
}

// root is the disk that a VM boots from.
func (s settings) root() (drive, bool) {
	order := strings.Split(parseOption("boot,"+s["boot"]).get("order"), ";")
	for _, slot := range append(order, s["bootdisk"], "virtio0", "scsi0", "sata0", "ide0") {
		if text, ok := s[slot]; ok && slotForm.MatchString(slot) {
			if d := (drive{slot, parseOption(text)}); !d.cdrom() {
				return d, true
			}
		}
	}
	return drive{}, false
}

// nic is the first network interface: its model and hardware address are one parameter.
func (s settings) nic() (model, mac string, o option) {
	o = parseOption("net," + s["net0"])
	o.first = ""
	if len(o.params) > 0 {
		model, mac = o.params[0][0], o.params[0][1]
	}
	return model, mac, o
}
