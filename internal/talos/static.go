// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/siderolabs/talos/pkg/machinery/cel"
	"github.com/siderolabs/talos/pkg/machinery/cel/celenv"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/container"
	"github.com/siderolabs/talos/pkg/machinery/config/types/network"
	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
)

// Static is the address that a node has without DHCP, and the servers of its network.
type Static struct {
	Address netip.Prefix // with the prefix length of the network; invalid: the node uses DHCP
	Gateway netip.Addr   // invalid: there is none
	DNS     []netip.Addr // empty: those of Talos
	Time    []string     // empty: those of Talos
	MAC     string       // of the interface; empty: the machine's one physical interface
}

// set reports whether a node has a static address.
func (s Static) set() bool { return s.Address.IsValid() }

// check returns why the node would not be reachable.
func (s Static) check() error {
	if s.Gateway.IsValid() && !s.Address.Contains(s.Gateway) {
		return fmt.Errorf("gateway %s is not in the network of address %s", s.Gateway, s.Address)
	}
	if _, err := net.ParseMAC(s.MAC); s.MAC != "" && err != nil {
		return fmt.Errorf("hardware address %q: %w", s.MAC, err)
	}
	return nil
}

// mac is the hardware address as Talos writes it.
func (s Static) mac() string {
	mac, err := net.ParseMAC(s.MAC)
	if err != nil {
		return ""
	}
	return mac.String()
}

// withStatic gives a node its static address, together with the address that control
// planes share: both are about one interface, which a configuration describes once.
func withStatic(cfg config.Provider, contract *config.VersionContract, s Static, ip SharedIP, r Role) (config.Provider, error) {
	if !s.set() {
		return withSharedIP(cfg, contract, ip, r)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	if r != ControlPlane {
		ip = SharedIP{Interface: ip.Interface}
	}
	if ip.Address != "" {
		if _, err := netip.ParseAddr(ip.Address); err != nil {
			return nil, fmt.Errorf("shared IP %q is not an address", ip.Address)
		}
	}
	if contract.MultidocNetworkConfigSupported() {
		return withStaticDocuments(cfg, s, ip)
	}
	return withStaticFields(cfg, s, ip)
}

// withStaticFields is for Talos before 1.12.
func withStaticFields(cfg config.Provider, s Static, ip SharedIP) (config.Provider, error) {
	cfg, err := withDevice(cfg, staticDevice(s, ip))
	if err != nil {
		return nil, err
	}
	return cfg.PatchV1Alpha1(func(doc *v1alpha1.Config) error {
		for _, server := range s.DNS {
			doc.MachineConfig.MachineNetwork.NameServers = append(doc.MachineConfig.MachineNetwork.NameServers, server.String()) //nolint:staticcheck // the only way before 1.12
		}
		if len(s.Time) > 0 {
			doc.MachineConfig.MachineTime = &v1alpha1.TimeConfig{TimeServers: s.Time} //nolint:staticcheck // as above
		}
		return nil
	})
}

func staticDevice(s Static, ip SharedIP) *v1alpha1.Device {
	device := &v1alpha1.Device{DeviceInterface: ip.Interface, DeviceAddresses: []string{s.Address.String()}, DeviceDHCP: new(false)}
	switch {
	case ip.Interface != "":
	case s.mac() != "":
		device.DeviceSelector = &v1alpha1.NetworkDeviceSelector{NetworkDeviceHardwareAddress: s.mac()}
	default:
		device.DeviceSelector = &v1alpha1.NetworkDeviceSelector{NetworkDevicePhysical: new(true)}
	}
	if s.Gateway.IsValid() {
		device.DeviceRoutes = []*v1alpha1.Route{{RouteNetwork: defaultRoute(s.Gateway).String(), RouteGateway: s.Gateway.String()}}
	}
	if ip.Address != "" {
		device.DeviceVIPConfig = &v1alpha1.DeviceVIPConfig{SharedIP: ip.Address}
	}
	return device
}

// defaultRoute is where packets go that no other route is for.
func defaultRoute(via netip.Addr) netip.Prefix {
	if via.Is4() {
		return netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	}
	return netip.PrefixFrom(netip.IPv6Unspecified(), 0)
}

// withStaticDocuments is for Talos from 1.12 on.
func withStaticDocuments(cfg config.Provider, s Static, ip SharedIP) (config.Provider, error) {
	documents, name := cfg.Clone().Documents(), ip.Interface
	if name == "" {
		alias, err := uplinkAlias(s.mac())
		if err != nil {
			return nil, err
		}
		documents, name = append(documents, alias), uplink
	}
	documents = append(documents, staticLink(name, s))
	if len(s.DNS) > 0 {
		resolver := network.NewResolverConfigV1Alpha1()
		for _, server := range s.DNS {
			resolver.ResolverNameservers = append(resolver.ResolverNameservers, network.NameserverConfig{Address: network.Addr{Addr: server}})
		}
		documents = append(documents, resolver)
	}
	if len(s.Time) > 0 {
		sync := network.NewTimeSyncConfigV1Alpha1()
		sync.TimeNTP = &network.NTPConfig{Servers: s.Time}
		documents = append(documents, sync)
	}
	if ip.Address != "" {
		vip := network.NewLayer2VIPConfigV1Alpha1(ip.Address)
		vip.LinkName = name
		documents = append(documents, vip)
	}
	return container.New(documents...)
}

func staticLink(name string, s Static) *network.LinkConfigV1Alpha1 {
	link := network.NewLinkConfigV1Alpha1(name)
	link.LinkAddresses = []network.AddressConfig{{AddressAddress: s.Address}}
	if s.Gateway.IsValid() {
		link.LinkRoutes = []network.RouteConfig{{RouteGateway: network.Addr{Addr: s.Gateway}}}
	}
	return link
}

// uplinkAlias names the interface with a hardware address, or without one the machine's
// one physical interface.
func uplinkAlias(mac string) (*network.LinkAliasConfigV1Alpha1, error) {
	expression := "link.type == 1" // ethernet
	if mac != "" {
		expression = fmt.Sprintf("mac(link.permanent_addr) == %q", mac)
	}
	alias := network.NewLinkAliasConfigV1Alpha1(uplink)
	var err error
	if alias.Selector.Match, err = cel.ParseBooleanExpression(expression, celenv.LinkLocator()); err != nil {
		return nil, fmt.Errorf("interface of the node: %w", err)
	}
	return alias, nil
}
