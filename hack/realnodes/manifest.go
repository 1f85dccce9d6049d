// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	_ "embed"
	"net/netip"
	"text/template"
)

// cluster is the name of the cluster in its manifest.
const cluster = "real-ha"

//go:embed cluster.yaml
var manifestText string

// addresses are those of a run: the registry is at the gateway of the nodes.
type addresses struct {
	// Registry is its host and port, Repository the path in it that images are pushed below.
	Registry, Repository string
	Gateway, VIP         netip.Addr
	Subnet               netip.Prefix
}

// vipNumber is the last byte of the VIP: machines get the first addresses of the subnet.
const vipNumber = 100

// addressesOf returns the addresses in the /24 around a registry.
func addressesOf(registry string) (addresses, error) {
	at, err := netip.ParseAddrPort(registry)
	if err != nil {
		return addresses{}, err
	}
	subnet, err := at.Addr().Prefix(24)
	if err != nil {
		return addresses{}, err
	}
	vip := subnet.Addr().As4()
	vip[3] = vipNumber
	return addresses{registry, registry + "/butler", at.Addr(), netip.AddrFrom4(vip), subnet}, nil
}

// manifest returns the manifest of a cluster at these addresses.
func (a addresses) manifest() ([]byte, error) {
	t, err := template.New("cluster").Parse(manifestText)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, a)
	return out.Bytes(), err
}
