// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// powerOn powers the machine of a VM on.
func (p *PVE) powerOn(g *guest) error {
	if !p.Hosts {
		return fail("start failed: QEMU exited with code 1")
	}
	s := datacenter.Spec{
		ID: g.UUID, Name: g.name(), Ref: g.id(), Instance: g.UUID, Network: "none", CPU: g.cpus(), MemoryMB: g.memory(), Image: p.bootImage(g), Disks: p.guestDisks(g),
		ImagePlatform: "nocloud", // as the guide has the image built
	}
	if net, set := g.Config["net0"]; set {
		parts, _ := parseOption("net", "net0", net)
		s.MAC, s.Network = strings.ToLower(parts["macaddr"]), parts["bridge"]
		if parts["tag"] != "" {
			s.Network += "." + parts["tag"]
		}
	}
	s.UserData, s.NetworkData = p.cloudInit(g)
	_, err := p.Options.Datacenter.PowerOn(s)
	return err
}

// bootImage says what is on the disk that the VM starts from.
func (p *PVE) bootImage(g *guest) string {
	if v := p.bootVolume(g); v != nil {
		return v.Image
	}
	return ""
}

// bootVolume is the disk that the VM starts from. Without an order of devices it is looked for
// each time, with one when the options change.
func (p *PVE) bootVolume(g *guest) *volume {
	if b := g.boot; b.order == "" || b.order != g.Config["boot"] || b.value != g.Config[b.drive] {
		drive := p.bootDrive(g)
		g.boot = boot{order: g.Config["boot"], drive: drive, value: g.Config[drive], file: parseDrive(drive, g.Config[drive])["file"]}
	}
	return p.st.volumeAt(g.boot.file, g.Node)
}

// bootDrive is the first disk of the boot order, or of all.
func (p *PVE) bootDrive(g *guest) string {
	parts, _ := parseOption("boot", "boot", g.Config["boot"])
	for _, name := range splitList(parts["order"]) {
		if inUse(name) && !isCDROM(parseDrive(name, g.Config[name])) {
			return name
		}
	}
	if all := p.disksByName(g); len(all) > 0 {
		return all[0]
	}
	return "scsi0"
}

// disksByName are the drives of a VM that are disks, in the order of their devices.
func (p *PVE) disksByName(g *guest) (out []string) {
	for _, name := range slices.SortedFunc(maps.Keys(g.Config), byDevice) {
		if inUse(name) && !isCDROM(parseDrive(name, g.Config[name])) && settings()[name].format != "drive-efidisk" && settings()[name].format != "drive-tpmstate" {
			out = append(out, name)
		}
	}
	return out
}

// byDevice orders drives by bus and number.
func byDevice(a, b string) int {
	split := func(name string) (string, int) {
		bus := strings.TrimRight(name, "0123456789")
		number := 0
		for _, r := range name[len(bus):] {
			number = number*10 + int(r-'0')
		}
		return bus, number
	}
	busA, numberA := split(a)
	busB, numberB := split(b)
	if busA != busB {
		return strings.Compare(busA, busB)
	}
	return numberA - numberB
}

// virtioSerial is how much of its serial number a virtio disk has.
const virtioSerial = 20

// guestDisks are the disks as the guest sees them: SCSI and SATA ones as /dev/sd…, virtio
// ones as /dev/vd…. Talos reads the serial number of virtio disks; that of others is in the
// links of udev alone, which without one have the name of the drive.
func (p *PVE) guestDisks(g *guest) (out []datacenter.Disk) {
	count := map[bool]int{}
	for _, name := range p.disksByName(g) {
		drive := parseDrive(name, g.Config[name])
		virtio := strings.HasPrefix(name, "virtio")
		letter := string(rune('a' + count[virtio]))
		count[virtio]++
		d := datacenter.Disk{Device: "/dev/sd" + letter, Model: "QEMU HARDDISK", Transport: "virtio", System: name == p.bootDrive(g)}
		if v := p.st.volumeAt(drive["file"], g.Node); v != nil {
			d.SizeBytes = uint64(v.Bytes)
		}
		if virtio {
			d.Device, d.Model, d.Serial = "/dev/vd"+letter, "", drive["serial"][:min(len(drive["serial"]), virtioSerial)]
		} else {
			d.Links = []string{"/dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_" + cmp.Or(drive["serial"], "drive-"+name)}
		}
		out = append(out, d)
	}
	return out
}

// cloudInit is what the guest reads from the first disk with the label cidata.
func (p *PVE) cloudInit(g *guest) (userData, networkData []byte) {
	for _, name := range slices.SortedFunc(maps.Keys(g.Config), byDevice) {
		drive := parseDrive(name, g.Config[name])
		if !inUse(name) || !isCDROM(drive) {
			continue
		}
		if isCloudinit(drive) {
			return generatedData(g)
		}
		v := p.st.volumeAt(drive["file"], g.Node)
		if v == nil {
			continue
		}
		if label, files := readISO(v.Data); strings.EqualFold(label, "cidata") {
			return files["user-data"], files["network-config"]
		}
	}
	return nil, nil
}

// hostResolver is the name server of the hosts, which VMs get that name none.
const hostResolver = "192.0.2.53"

// generatedData is what the platform writes to its cloud-init drive: for users of
// cloud-init, and the addresses and name servers of the options. Interfaces without
// addresses are left out.
func generatedData(g *guest) (userData, networkData []byte) {
	userData = []byte("#cloud-config\nhostname: " + g.name() + "\nmanage_etc_hosts: true\nchpasswd:\n  expire: False\nusers:\n  - default\npackage_upgrade: true\n")
	text := &strings.Builder{}
	text.WriteString("version: 1\nconfig:\n")
	for i := range 32 {
		net, option := g.Config[fmt.Sprint("net", i)], g.Config[fmt.Sprint("ipconfig", i)]
		if net == "" || option == "" {
			continue
		}
		device, _ := parseOption("net", "net", net)
		fmt.Fprintf(text, "    - type: physical\n      name: eth%d\n      mac_address: '%s'\n      subnets:\n%s", i, strings.ToLower(device["macaddr"]), subnetText(option))
	}
	text.WriteString(resolverText(g))
	return userData, []byte(text.String())
}

// subnetText is a static address with its mask and gateway, or what asks for one.
func subnetText(option string) (text string) {
	parts, _ := parseOption("ipconfig", "ipconfig", option)
	gateway := func(name string) string {
		if parts[name] == "" {
			return ""
		}
		return "        gateway: '" + parts[name] + "'\n"
	}
	if prefix, err := netip.ParsePrefix(parts["ip"]); err == nil {
		text += "      - type: static\n        address: '" + prefix.Addr().String() + "'\n        netmask: '" + netmask(prefix) + "'\n" + gateway("gw")
	} else if parts["ip"] != "" {
		text += "      - type: dhcp4\n"
	}
	switch parts["ip6"] {
	case "":
	case "dhcp":
		text += "      - type: dhcp6\n"
	case "auto":
		text += "      - type: ipv6_slaac\n"
	default:
		text += "      - type: static6\n        address: '" + parts["ip6"] + "'\n" + gateway("gw6")
	}
	return text
}

func netmask(p netip.Prefix) string {
	return net.IP(net.CIDRMask(p.Bits(), p.Addr().BitLen())).String()
}

func resolverText(g *guest) string {
	text := "    - type: nameserver\n      address:\n" + listText(cmp.Or(g.Config["nameserver"], hostResolver))
	if domains := listText(g.Config["searchdomain"]); domains != "" {
		text += "      search:\n" + domains
	}
	return text
}

// listText is a list of words that spaces separate.
func listText(words string) string {
	text := &strings.Builder{}
	for word := range strings.FieldsSeq(words) {
		text.WriteString("      - '" + word + "'\n")
	}
	return text.String()
}

// getInterfaces is what the guest agent reports, which runs once the guest has started.
func getInterfaces(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	parts, _ := parseOption("agent", "agent", g.Config["agent"])
	switch m, on := c.Options.Datacenter.Running(g.UUID); {
	case g.Config["agent"] == "":
		return nil, fail("No QEMU guest agent configured")
	case !g.Running:
		return nil, fail("VM %s is not running", g.id())
	case parts["enabled"] != "1" || !on || !m.Address.IsValid() || !c.Hosts:
		return nil, fail("QEMU guest agent is not running")
	default:
		return map[string]any{"result": interfacesOf(m)}, nil
	}
}

func interfacesOf(m datacenter.Machine) []any {
	address := func(a netip.Addr, bits int) map[string]any {
		kind := "ipv4"
		if a.Is6() {
			kind = "ipv6"
		}
		return map[string]any{"ip-address": a.String(), "ip-address-type": kind, "prefix": bits}
	}
	statistics := map[string]any{"rx-bytes": 0, "rx-packets": 0, "rx-errs": 0, "rx-dropped": 0, "tx-bytes": 0, "tx-packets": 0, "tx-errs": 0, "tx-dropped": 0}
	own := []any{address(m.Address.Addr(), m.Address.Bits()), address(netip.MustParseAddr("fe80::1"), 64)}
	for _, a := range m.Others() {
		own = append(own, address(a, a.BitLen()))
	}
	return []any{
		map[string]any{
			"name": "lo", "hardware-address": "00:00:00:00:00:00", "statistics": statistics,
			"ip-addresses": []any{address(netip.MustParseAddr("127.0.0.1"), 8), address(netip.IPv6Loopback(), 128)},
		},
		map[string]any{"name": "eth0", "hardware-address": strings.ToLower(m.MAC), "ip-addresses": own, "statistics": statistics},
	}
}
