// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
	"github.com/butlerdotdev/butler/provider/tag"
)

func TestConformance(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	providertest.Run(t, providertest.Suite{
		Provider: Provider(), Config: f.config(), Operator: operator{f}, LoadBalancers: operator{f}, MachineClients: f.machineClients(t),
		Machine: provider.MachineSpec{Role: v1alpha1.RoleWorker, CPU: 2, MemoryMB: 4096, DiskGB: 20, TalosVersion: talosVersion},
		Labels:  map[string]string{"tier": "gold", "example.com.zone": "a-1"},
		Secrets: []string{string(f.Secret[v1alpha1.KeyClientSecret])},
		Missing: map[string]providertest.Change{
			"image": func(_ *provider.Config, s *provider.MachineSpec) { s.Image = "talos-v0.0.1" },
			"network": func(c *provider.Config, _ *provider.MachineSpec) {
				c.Spec.Azure.SubnetName = "other"
			},
		},
		Refused: map[string]providertest.Change{
			"a label of the driver": func(_ *provider.Config, s *provider.MachineSpec) { s.Labels = map[string]string{tag.OwnerID: "me"} },
			"a label of Azure":      func(_ *provider.Config, s *provider.MachineSpec) { s.Labels = map[string]string{"azure-name": "me"} },
			"a label with a slash":  func(_ *provider.Config, s *provider.MachineSpec) { s.Labels = map[string]string{"example.com/a": "b"} },
			"networkData":           func(_ *provider.Config, s *provider.MachineSpec) { s.NetworkData = "version: 2" },
			"network.mode ipam": func(c *provider.Config, _ *provider.MachineSpec) {
				c.Spec.Network = &v1alpha1.ProviderNetworkSpec{Mode: v1alpha1.NetworkModeIPAM}
			},
			"a storage class": func(_ *provider.Config, s *provider.MachineSpec) {
				s.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 5, StorageClass: "UltraSSD_LRS"}}
			},
			"a size that is too small": func(c *provider.Config, s *provider.MachineSpec) { c.Spec.Azure.VMSize, s.CPU = "Standard_D2s_v5", 4 },
			"no subnet":                func(c *provider.Config, _ *provider.MachineSpec) { c.Spec.Azure.SubnetName = "" },
			"no security group":        func(c *provider.Config, _ *provider.MachineSpec) { c.Spec.Azure.SecurityGroupName = "" },
		},
		Unexercised: map[string]string{
			"survives a drain": "Azure moves machines from hosts by itself, without a stop",
		},
		Record: "../../docs/contributing/provider-contract.md",
	})
}

// machineClients are the ranges of the machines of the ProviderConfig.
func (f *fixture) machineClients(t *testing.T) (all []string) {
	t.Helper()
	subnet, err := f.admin.subnet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range prefixesOf(subnet) {
		all = append(all, p.String())
	}
	exits, err := f.admin.exits(t.Context(), subnet)
	if err != nil || len(exits) == 0 {
		t.Fatalf("%d NAT gateways: %v", len(exits), err)
	}
	return append(all, exits...)
}
