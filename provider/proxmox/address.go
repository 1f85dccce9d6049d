// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/butlerdotdev/butler/provider"
)

// Settings of the drive that Proxmox VE writes.
const (
	ipConfig   = "ipconfig0"
	nameServer = "nameserver"
)

// addressSettings adds the address of a machine to its settings. Without one those of the
// template are kept, or else DHCP is asked for.
func addressSettings(n *provider.Network, have settings, into map[string]string) {
	if n == nil {
		into[ipConfig] = cmp.Or(have[ipConfig], "ip=dhcp")
		return
	}
	into[ipConfig] = ipConfigOf(*n)
	var servers []string
	for _, a := range n.DNSServers {
		servers = append(servers, a.String())
	}
	if len(servers) > 0 {
		into[nameServer] = strings.Join(servers, " ")
	}
}

// ipConfigOf is the value of ipconfig0 for an address.
func ipConfigOf(n provider.Network) string {
	address, gateway := "ip", "gw"
	if n.Address.Addr().Is6() {
		address, gateway = "ip6", "gw6"
	}
	o := option{}.with(address, n.Address.String())
	if n.Gateway.IsValid() {
		o = o.with(gateway, n.Gateway.String())
	}
	return o.String()
}

// checkAddressable refuses a template whose clones would not read their address: Talos reads
// drives of type NoCloud, and an own file in the template is used instead of ipconfig0.
func (t template) checkAddressable() error {
	refuse := func(err error, hint string) error {
		return provider.Invalid.New("", provider.ReasonAddressUnsupported, err, hint)
	}
	custom := parseOption("cicustom," + t.settings["cicustom"])
	slot, _ := driveSlot(t.settings, "")
	switch kind := t.settings["citype"]; {
	case custom.get("network") != "":
		return refuse(fmt.Errorf("template %d on %s has its own network configuration (cicustom), which would be used instead of a machine's address", t.VMID, t.Node), fmt.Sprintf("remove it: qm set %d --delete cicustom", t.VMID))
	case kind != "" && kind != "nocloud":
		return refuse(fmt.Errorf("template %d on %s has cloud-init drives of type %s, which Talos does not read", t.VMID, t.Node, kind), fmt.Sprintf("change it: qm set %d --citype nocloud", t.VMID))
	case slot == "":
		return refuse(fmt.Errorf("template %d on %s has no room for the cloud-init drive that a machine's address is on", t.VMID, t.Node), fmt.Sprintf("remove a drive: qm set %d --delete ide2", t.VMID))
	}
	return nil
}
