// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/aws"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
	"github.com/butlerdotdev/butler/provider/tag"
)

func TestConformance(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	providertest.Run(t, providertest.Suite{
		Provider: Provider(), Config: f.config(), Operator: operator{f}, LoadBalancers: operator{f}, MachineClients: f.clients(t),
		Machine: provider.MachineSpec{Role: v1alpha1.RoleWorker, CPU: 2, MemoryMB: 4096, DiskGB: 20, TalosVersion: talosVersion},
		Secrets: []string{string(f.Secret[v1alpha1.KeySecretAccessKey])},
		Missing: map[string]providertest.Change{
			"image": func(_ *provider.Config, s *provider.MachineSpec) { s.Image = "ami-0123456789abcdef0" },
			"network": func(c *provider.Config, _ *provider.MachineSpec) {
				c.Spec.AWS.SubnetIDs = []string{"subnet-0123456789abcdef0"}
			},
		},
		Refused: map[string]providertest.Change{
			"a label of the driver": func(_ *provider.Config, s *provider.MachineSpec) { s.Labels = map[string]string{tag.OwnerID: "me"} },
			"a label of AWS":        func(_ *provider.Config, s *provider.MachineSpec) { s.Labels = map[string]string{"aws:name": "me"} },
			"networkData":           func(_ *provider.Config, s *provider.MachineSpec) { s.NetworkData = "version: 2" },
			"network.mode ipam": func(c *provider.Config, _ *provider.MachineSpec) {
				c.Spec.Network = &v1alpha1.ProviderNetworkSpec{Mode: v1alpha1.NetworkModeIPAM}
			},
			"a storage class": func(_ *provider.Config, s *provider.MachineSpec) {
				s.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 5, StorageClass: "longhorn"}}
			},
			"a type that is too small": func(c *provider.Config, s *provider.MachineSpec) { c.Spec.AWS.InstanceType, s.CPU = "m5.large", 4 },
			"no subnet":                func(c *provider.Config, _ *provider.MachineSpec) { c.Spec.AWS.SubnetIDs = nil },
			"no security group":        func(c *provider.Config, _ *provider.MachineSpec) { c.Spec.AWS.SecurityGroupIDs = nil },
		},
		Unexercised: map[string]string{
			"partial create resumed": "one call creates the instance with its disks and its interface",
			"survives a drain":       "AWS has no hosts to drain: it announces the retirement of one, and the machine is stopped",
		},
		Record: "../../docs/contributing/provider-contract.md",
	})
}
