// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package nocloud writes what a guest reads from a cloud-init drive of type NoCloud. Talos
// images of the platform nocloud read it too.
package nocloud

import (
	"crypto/sha256"
	"fmt"
	"net"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/provider"
)

// nothing is user data that asks for nothing. Talos takes an empty file, and some versions a
// missing one, for a broken configuration, and does not enter maintenance mode.
const nothing provider.Sensitive = "#cloud-config\n"

// UserData returns the file user-data of a drive that is there for another reason too.
func UserData(given provider.Sensitive) provider.Sensitive {
	if given == "" {
		return nothing
	}
	return given
}

// NetworkData returns the file network-config of a machine: what its spec has as it is, else
// its address on the interface with a hardware address. It is empty if the spec has neither.
func NetworkData(s provider.MachineSpec, mac string) provider.Sensitive {
	if s.Network == nil {
		return s.NetworkData
	}
	return networkConfig(*s.Network, mac)
}

// Needed reports whether a machine needs a drive.
func Needed(s provider.MachineSpec) bool {
	return s.UserData != "" || s.NetworkData != "" || s.Network != nil
}

// MAC derives a hardware address from the owner of a machine: locally administered, for one
// interface.
func MAC(o provider.Owner) string {
	sum := sha256.Sum256([]byte("net0 " + o.ID))
	return net.HardwareAddr(append([]byte{0x02}, sum[:5]...)).String()
}

// config is cloud-init's network configuration, version 2, as far as it is needed here.
type config struct {
	Version   int                 `json:"version"`
	Ethernets map[string]ethernet `json:"ethernets"`
}

// interfaceID names the interface in the file. Talos takes it for the name of an interface if
// none has the hardware address, as in a clone of the machine: that must not take its address,
// so no interface may have this name. Early versions read only names that begin with eth.
const interfaceID = "ethernet"

type ethernet struct {
	Match       match    `json:"match"`
	Addresses   []string `json:"addresses"`
	Gateway4    string   `json:"gateway4,omitempty"`
	Gateway6    string   `json:"gateway6,omitempty"`
	NameServers *servers `json:"nameservers,omitempty"`
}

type match struct {
	MAC string `json:"macaddress"`
}

type servers struct {
	Addresses []string `json:"addresses"`
}

// networkConfig has gateway4 and gateway6: every version of Talos reads them, but not every
// one reads routes.
func networkConfig(n provider.Network, mac string) provider.Sensitive {
	e := ethernet{Match: match{strings.ToLower(mac)}, Addresses: []string{n.Address.String()}}
	switch {
	case n.Gateway.Is4():
		e.Gateway4 = n.Gateway.String()
	case n.Gateway.Is6():
		e.Gateway6 = n.Gateway.String()
	}
	for _, a := range n.DNSServers {
		if e.NameServers == nil {
			e.NameServers = &servers{}
		}
		e.NameServers.Addresses = append(e.NameServers.Addresses, a.String())
	}
	text, err := yaml.Marshal(config{Version: 2, Ethernets: map[string]ethernet{interfaceID: e}})
	if err != nil {
		panic(fmt.Sprintf("texts cannot be written as YAML: %v", err))
	}
	return provider.Sensitive(text)
}
