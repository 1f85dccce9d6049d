// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"fmt"
	"net/netip"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
)

// withLoopback prepares a control plane for the address of a load balancer on its loopback
// interface, and adds the address if the node has it.
// Every version takes it in the old form: a LinkConfig document, the new one,
// would switch Talos' default of DHCP off on all interfaces.
func withLoopback(cfg config.Provider, address string, n Node) (config.Provider, error) {
	if address == "" || n.Role != ControlPlane {
		return cfg, nil
	}
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return nil, fmt.Errorf("loopback address %q is not an address", address)
	}
	own := netip.PrefixFrom(ip, ip.BitLen()).String()
	if cfg, err = withoutNodeAddress(cfg, ip, own); err != nil || !n.Loopback {
		return cfg, err
	}
	return withDevice(cfg, &v1alpha1.Device{DeviceInterface: "lo", DeviceAddresses: []string{own}})
}

// withoutNodeAddress keeps an address from what others reach the node by. To Talos every
// address of a node is one of those, and it takes the lowest: members of etcd would all be
// at the address of the load balancer.
func withoutNodeAddress(cfg config.Provider, ip netip.Addr, shared string) (config.Provider, error) {
	all := netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	if ip.Is6() {
		all = netip.PrefixFrom(netip.IPv6Unspecified(), 0)
	}
	others := []string{all.String(), "!" + shared}
	return cfg.PatchV1Alpha1(func(doc *v1alpha1.Config) error {
		if doc.ClusterConfig.EtcdConfig == nil {
			doc.ClusterConfig.EtcdConfig = &v1alpha1.EtcdConfig{}
		}
		doc.ClusterConfig.EtcdConfig.EtcdAdvertisedSubnets = others
		doc.MachineConfig.MachineKubelet.KubeletNodeIP = &v1alpha1.KubeletNodeIPConfig{KubeletNodeIPValidSubnets: others}
		return nil
	})
}
