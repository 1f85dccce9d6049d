// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"net/netip"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/proxmox"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
	"github.com/butlerdotdev/butler/provider/tag"
)

func TestConformance(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	providertest.Run(t, providertest.Suite{
		Provider: Provider(), Config: f.config(), Operator: operator{f}, Steps: true,
		Machine: provider.MachineSpec{Role: v1alpha1.RoleWorker, CPU: 2, MemoryMB: 2048, DiskGB: 10},
		Network: &provider.Network{
			Address: netip.MustParsePrefix("10.40.9.61/16"), Gateway: netip.MustParseAddr("10.40.0.1"), DNSServers: []netip.Addr{netip.MustParseAddr("10.40.0.2")},
		},
		Secrets: []string{string(f.credentials[v1alpha1.KeyTokenSecret])},
		Labels:  map[string]string{"tier": "gold", "zone_of_shop": "a-1"},
		Missing: map[string]providertest.Change{
			"image":   func(_ *provider.Config, s *provider.MachineSpec) { s.Image = "talos-none" },
			"network": func(c *provider.Config, _ *provider.MachineSpec) { c.Spec.Proxmox.Bridge = "vmbr9" },
		},
		Refused: map[string]providertest.Change{
			"a label of the driver": func(_ *provider.Config, s *provider.MachineSpec) { s.Labels = map[string]string{tag.OwnerID: "me"} },
			"a reserved tag":        func(_ *provider.Config, s *provider.MachineSpec) { s.Labels = map[string]string{"butler-vmid": "7"} },
			"a label in upper case": func(_ *provider.Config, s *provider.MachineSpec) { s.Labels = map[string]string{"tier": "Gold"} },
			"a name with dots":      func(_ *provider.Config, s *provider.MachineSpec) { s.Name += ".x" },
			"an unknown template": func(c *provider.Config, _ *provider.MachineSpec) {
				c.Spec.Proxmox.TemplateID, c.Spec.Proxmox.Template = 8999, ""
			},
			"an unknown storage": func(c *provider.Config, _ *provider.MachineSpec) { c.Spec.Proxmox.Storage = "none" },
			"an unknown node":    func(c *provider.Config, _ *provider.MachineSpec) { c.Spec.Proxmox.Nodes = []string{"pve9"} },
			"an unknown class": func(_ *provider.Config, s *provider.MachineSpec) {
				s.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 10, StorageClass: "longhorn"}}
			},
			"a disk below that of the template": func(_ *provider.Config, s *provider.MachineSpec) { s.DiskGB = 1 },
			"network.gateway without pools": func(c *provider.Config, _ *provider.MachineSpec) {
				c.Spec.Network = &v1alpha1.ProviderNetworkSpec{Gateway: "10.40.0.1"}
			},
		},
		Unexercised: map[string]string{
			"survives a drain": "Proxmox VE migrates only VMs that its HA manager has, and a node that is shut down starts the others again at boot",
		},
		WithoutLoadBalancers: "on-premises clusters have a virtual IP instead",
		Record:               "../../docs/contributing/provider-contract.md",
	})
}
