// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"fmt"
	"net/netip"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/container"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/stdpatches"
	"github.com/siderolabs/talos/pkg/machinery/config/types/network"
	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
)

// uplink is the alias for the one physical interface when none is named.
const uplink = "uplink"

func withHostname(cfg config.Provider, contract *config.VersionContract, name string) (config.Provider, error) {
	if name == "" {
		return nil, fmt.Errorf("the host name is missing")
	}
	patch, err := stdpatches.WithStaticHostname(contract, name)
	if err != nil {
		return nil, fmt.Errorf("host name: %w", err)
	}
	return merged(cfg, patch)
}

func withSharedIP(cfg config.Provider, contract *config.VersionContract, ip SharedIP, r Role) (config.Provider, error) {
	if ip.Address == "" || r != ControlPlane {
		return cfg, nil
	}
	if _, err := netip.ParseAddr(ip.Address); err != nil {
		return nil, fmt.Errorf("shared IP %q is not an address", ip.Address)
	}
	if contract.MultidocNetworkConfigSupported() {
		return withVIPDocuments(cfg, ip)
	}
	return withDevice(cfg, vipInterface(ip))
}

func withDevice(cfg config.Provider, device *v1alpha1.Device) (config.Provider, error) {
	return cfg.PatchV1Alpha1(func(doc *v1alpha1.Config) error {
		if doc.MachineConfig.MachineNetwork == nil { //nolint:staticcheck // the only way before 1.12, see also withLoopback
			doc.MachineConfig.MachineNetwork = &v1alpha1.NetworkConfig{} //nolint:staticcheck // as above
		}
		settings := doc.MachineConfig.MachineNetwork //nolint:staticcheck // as above
		settings.NetworkInterfaces = append(settings.NetworkInterfaces, device)
		return nil
	})
}

// vipInterface asks for DHCP explicitly: naming an interface ends Talos'
// default of running DHCP on it.
func vipInterface(ip SharedIP) *v1alpha1.Device {
	device := &v1alpha1.Device{
		DeviceInterface: ip.Interface,
		DeviceDHCP:      new(true),
		DeviceVIPConfig: &v1alpha1.DeviceVIPConfig{SharedIP: ip.Address},
	}
	if ip.Interface == "" {
		device.DeviceSelector = &v1alpha1.NetworkDeviceSelector{NetworkDevicePhysical: new(true)}
	}
	return device
}

func withVIPDocuments(cfg config.Provider, ip SharedIP) (config.Provider, error) {
	documents := cfg.Clone().Documents()
	vip := network.NewLayer2VIPConfigV1Alpha1(ip.Address)
	vip.LinkName = ip.Interface
	if ip.Interface == "" {
		alias, err := uplinkAlias("")
		if err != nil {
			return nil, err
		}
		vip.LinkName = uplink
		documents = append(documents, alias)
	}
	return container.New(append(documents, vip)...)
}
