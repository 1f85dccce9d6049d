// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
	"github.com/butlerdotdev/butler/provider/tag"
)

func TestConformance(t *testing.T) {
	f := newFixture(t)
	label := func(name, value string) providertest.Change {
		return func(_ *provider.Config, s *provider.MachineSpec) { s.Labels = map[string]string{name: value} }
	}
	const nowhere = "11111111-2222-4333-8444-555555555555"
	providertest.Run(t, providertest.Suite{
		Provider: Provider(), Config: f.config(), Operator: operator{f},
		Machine: provider.MachineSpec{Role: v1alpha1.RoleWorker, CPU: 2, MemoryMB: 2048, DiskGB: 20, TalosVersion: talosVersion},
		Labels:  map[string]string{"tier": "gold", "Zone of the shop": "a 1"},
		Network: &provider.Network{
			Address: netip.MustParsePrefix("10.40.9.61/16"), Gateway: netip.MustParseAddr("10.40.0.1"), DNSServers: []netip.Addr{netip.MustParseAddr("10.40.0.2")},
		},
		Secrets: []string{string(f.credentials[v1alpha1.KeyPassword])},
		Missing: map[string]providertest.Change{
			"image":   func(_ *provider.Config, s *provider.MachineSpec) { s.Image = nowhere },
			"network": func(c *provider.Config, _ *provider.MachineSpec) { c.Spec.Nutanix.SubnetUUID = nowhere },
		},
		Refused: map[string]providertest.Change{
			"a label of the driver":    label(tag.OwnerID, "me"),
			"a category of the driver": label("butler-x", "me"),
			"a label with a slash":     label("example.com/tier", "gold"),
			"a label without a value":  label("tier", ""),
			"networkData":              func(_ *provider.Config, s *provider.MachineSpec) { s.NetworkData = "version: 2" },
			"too much user data": func(_ *provider.Config, s *provider.MachineSpec) {
				s.UserData = provider.Sensitive(strings.Repeat("x", 96001))
			},
			"an address of another subnet": func(_ *provider.Config, s *provider.MachineSpec) {
				s.Network = &provider.Network{Address: netip.MustParsePrefix("192.0.2.7/24")}
			},
			"network.gateway without pools": func(c *provider.Config, _ *provider.MachineSpec) {
				c.Spec.Network = &v1alpha1.ProviderNetworkSpec{Gateway: "10.40.0.1"}
			},
			"sockets of three cores": func(c *provider.Config, _ *provider.MachineSpec) { c.Spec.Nutanix.CoresPerSocket = 3 },
			"an unknown cluster":     func(c *provider.Config, _ *provider.MachineSpec) { c.Spec.Nutanix.ClusterUUID = nowhere },
			"an unknown project":     func(c *provider.Config, _ *provider.MachineSpec) { c.Spec.Nutanix.Project = "none" },
			"an unknown container":   func(c *provider.Config, _ *provider.MachineSpec) { c.Spec.Nutanix.StorageContainerUUID = nowhere },
			"a disk in no container": func(_ *provider.Config, s *provider.MachineSpec) {
				s.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 10, StorageClass: "longhorn"}}
			},
		},
		WithoutLoadBalancers: "on-premises clusters have a virtual IP instead",
		Unexercised: map[string]string{
			"partial create resumed": "one call creates the VM with its disks",
			"survives a drain":       "AHV migrates machines by itself",
		},
		Record: "../../docs/contributing/provider-contract.md",
	})
}
