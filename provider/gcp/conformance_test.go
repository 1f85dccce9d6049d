// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"encoding/json"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/gcp"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
	"github.com/butlerdotdev/butler/provider/tag"
)

func TestConformance(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	var key document
	if err := json.Unmarshal(f.Secret[v1alpha1.KeyServiceAccountKey], &key); err != nil {
		t.Fatal(err)
	}
	providertest.Run(t, providertest.Suite{
		Provider: Provider(), Config: f.config(), Operator: operator{f}, LoadBalancers: operator{f}, MachineClients: f.clients(t),
		Machine: provider.MachineSpec{Role: v1alpha1.RoleWorker, CPU: 2, MemoryMB: 4096, DiskGB: 20, TalosVersion: talosVersion},
		Secrets: []string{key.PrivateKey, key.PrivateKey[100:160]},
		Labels:  map[string]string{"tier": "gold", "zone_of_shop": "a-1"},
		Missing: map[string]providertest.Change{
			"image": func(_ *provider.Config, s *provider.MachineSpec) {
				s.Image = "projects/butler-example/global/images/none"
			},
			"network": func(c *provider.Config, _ *provider.MachineSpec) { c.Spec.GCP.Subnetwork = "none" },
		},
		Refused: map[string]providertest.Change{
			"a label of the driver":     func(_ *provider.Config, s *provider.MachineSpec) { s.Labels = map[string]string{tag.OwnerID: "me"} },
			"a label in upper case":     func(_ *provider.Config, s *provider.MachineSpec) { s.Labels = map[string]string{"tier": "Gold"} },
			"a label of Google":         func(_ *provider.Config, s *provider.MachineSpec) { s.Labels = map[string]string{"goog-x": "me"} },
			"networkData":               func(_ *provider.Config, s *provider.MachineSpec) { s.NetworkData = "version: 2" },
			"a name that begins with 1": func(_ *provider.Config, s *provider.MachineSpec) { s.Name = "1" + s.Name },
			"network.mode ipam": func(c *provider.Config, _ *provider.MachineSpec) {
				c.Spec.Network = &v1alpha1.ProviderNetworkSpec{Mode: v1alpha1.NetworkModeIPAM}
			},
			"a storage class": func(_ *provider.Config, s *provider.MachineSpec) {
				s.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 10, StorageClass: "longhorn"}}
			},
			"a type that is too small": func(c *provider.Config, s *provider.MachineSpec) {
				c.Spec.GCP.MachineType, s.CPU = "e2-standard-2", 4
			},
			"no network": func(c *provider.Config, _ *provider.MachineSpec) {
				c.Spec.GCP.Network, c.Spec.GCP.Subnetwork = "", ""
			},
			"an unknown region": func(c *provider.Config, _ *provider.MachineSpec) { c.Spec.GCP.Region = "mars-north1" },
		},
		Unexercised: map[string]string{
			"partial create resumed": "one call creates the instance with its disks",
			"survives a drain":       "Google Cloud migrates machines by itself",
		},
		Record: "../../docs/contributing/provider-contract.md",
	})
}
