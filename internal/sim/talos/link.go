// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"net"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/api/resource/definitions/enums"
	networkapi "github.com/siderolabs/talos/pkg/machinery/api/resource/definitions/network"
	"github.com/siderolabs/talos/pkg/machinery/cel/celenv"
	"github.com/siderolabs/talos/pkg/machinery/config"
	talosconfig "github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/nethelpers"

	"github.com/butlerdotdev/butler/internal/sim/cloudinit"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// link is the one physical interface of a node, and what is known of its configuration so
// far.
type link struct {
	mac   string
	alias string // that the configuration gives it
	cloudinit.Interface
	configured bool // by the platform or by the configuration: DHCP is not the default
	ignored    bool
}

// interfaceOf returns how Talos configures the interface of a machine: by what the platform
// says, what the configuration says besides, and where neither does by DHCP. Without a
// configuration cfg is nil.
func interfaceOf(m datacenter.Machine, cfg config.Provider) cloudinit.Interface {
	l := &link{mac: m.MAC}
	if m.Platform != nil {
		l.Interface, l.configured = *m.Platform, true
		l.Addresses = slices.Clone(l.Addresses)
	}
	defaults := true
	if cfg != nil {
		l.readDevices(cfg.Machine().Network().Devices())
		l.readDocuments(cfg)
		defaults = cfg.RunDefaultDHCPOperators()
	}
	if defaults && !l.configured && !l.ignored {
		l.DHCP = true
	}
	return l.Interface
}

// readDevices reads the form of configurations up to Talos 1.11.
func (l *link) readDevices(devices []talosconfig.Device) {
	for _, d := range devices {
		switch {
		case !l.isDevice(d):
		case d.Ignore():
			l.ignored = true
		default:
			l.configured = true
			l.DHCP = l.DHCP || d.DHCP() && d.DHCPOptions().IPv4()
			for _, text := range d.Addresses() {
				l.add(parsePrefix(text))
			}
			for _, r := range d.Routes() {
				to, _ := netip.ParsePrefix(r.Network()) // none: everywhere
				via, _ := netip.ParseAddr(r.Gateway())
				l.route(to, via)
			}
		}
	}
}

// isDevice reports whether a device is the interface, by its name or by all that its selector
// asks for. The bus and the driver of the interface are not simulated.
func (l *link) isDevice(d talosconfig.Device) bool {
	s := d.Selector()
	if s == nil {
		return d.Interface() == cloudinit.Link
	}
	if s.Bus() != "" || s.PCIID() != "" || s.KernelDriver() != "" {
		return false
	}
	for _, pattern := range []string{s.HardwareAddress(), s.PermanentAddress()} {
		if ok, err := path.Match(pattern, l.mac); pattern != "" && (!ok || err != nil) {
			return false
		}
	}
	if s.Physical() != nil {
		return *s.Physical()
	}
	return s.HardwareAddress()+s.PermanentAddress() != ""
}

// readDocuments reads the form of configurations from Talos 1.12 on.
func (l *link) readDocuments(cfg config.Provider) {
	l.readAlias(cfg.NetworkLinkAliasConfigs())
	for _, c := range cfg.NetworkCommonLinkConfigs() {
		if !l.isNamed(c.Name()) {
			continue
		}
		l.configured = true
		for _, a := range c.Addresses() {
			l.add(a.Address())
		}
		for _, r := range c.Routes() {
			l.route(r.Destination().ValueOrZero(), r.Gateway().ValueOrZero())
		}
	}
	for _, c := range cfg.NetworkDHCPv4Configs() {
		l.DHCP = l.DHCP || l.isNamed(c.Name())
	}
}

// readAlias takes the alias of the interface: it has one at most, the first by name.
func (l *link) readAlias(all []talosconfig.NetworkLinkAliasConfig) {
	hardware, _ := net.ParseMAC(l.mac)
	status := &networkapi.LinkStatusSpec{
		Type: enums.NethelpersLinkType(nethelpers.LinkEther), HardwareAddr: hardware, PermanentAddr: hardware,
	}
	for _, c := range slices.SortedFunc(slices.Values(all), byName) {
		match, err := c.LinkSelector().EvalBool(celenv.LinkLocator(), map[string]any{"link": status})
		if err == nil && match {
			l.alias = strings.Replace(c.Name(), "%d", "0", 1)
			return
		}
	}
}

func byName(a, b talosconfig.NetworkLinkAliasConfig) int { return strings.Compare(a.Name(), b.Name()) }

func (l *link) isNamed(name string) bool {
	return name == cloudinit.Link || l.alias != "" && name == l.alias
}

func (l *link) add(address netip.Prefix) {
	if address.IsValid() && !slices.Contains(l.Addresses, address) {
		l.Addresses = append(l.Addresses, address)
	}
}

// route takes the gateway of a default route, that of the configuration before that of the
// platform.
func (l *link) route(to netip.Prefix, via netip.Addr) {
	if via.IsValid() && (!to.IsValid() || to.Bits() == 0) {
		l.Gateway = via
	}
}

// parsePrefix takes an address without a length for the address alone, as Talos does.
func parsePrefix(text string) netip.Prefix {
	if a, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(a, a.BitLen())
	}
	p, _ := netip.ParsePrefix(text) // Talos skips what it cannot read
	return p
}
