// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"slices"
	"strings"
	"testing"

	sim "github.com/butlerdotdev/butler/internal/sim/gcp"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
)

// TestPreflightRefusesWhatWouldFail: the sound project passes every check, and each defect
// is refused with what to do.
func TestPreflightRefusesWhatWouldFail(t *testing.T) {
	f := newFixture(t, sim.Seed{Quotas: map[string]float64{"CPUS": 16}})
	poor := slices.DeleteFunc(documented(t), func(p string) bool {
		return slices.Contains([]string{"compute.instances.create", "compute.regionBackendServices.create"}, p)
	})
	other := newFixture(t, sim.Seed{NoNAT: true, NoFirewall: true, Permissions: poor})
	providertest.Preflights(t, Provider(), talosVersion, map[string]providertest.Preflight{
		"a sound project":            {Sound: f.config()},
		"another subnetwork":         {Sound: f.config(), Config: func(c *provider.Config) { c.Spec.GCP.Subnetwork = "none" }, Want: map[string]provider.Verdict{"subnetwork": provider.Refused}, Says: "none"},
		"no subnetwork":              {Sound: f.config(), Config: func(c *provider.Config) { c.Spec.GCP.Subnetwork, c.Spec.GCP.Network = "", "" }, Want: map[string]provider.Verdict{"subnetwork": provider.Refused}, Says: "butler-nodes (network butler"},
		"another network":            {Sound: f.config(), Config: func(c *provider.Config) { c.Spec.GCP.Network = "default" }, Want: map[string]provider.Verdict{"subnetwork": provider.Refused}, Says: "not in default"},
		"another region":             {Sound: f.config(), Config: func(c *provider.Config) { c.Spec.GCP.Region = "mars-north1" }, Want: map[string]provider.Verdict{"region": provider.Refused, "subnetwork": provider.Refused}, Says: "europe-west3"},
		"another zone":               {Sound: f.config(), Config: func(c *provider.Config) { c.Spec.GCP.Zone = "us-central1-a" }, Want: map[string]provider.Verdict{"region": provider.Refused}, Says: "us-central1-a"},
		"another type":               {Sound: f.config(), Config: func(c *provider.Config) { c.Spec.GCP.MachineType = "m99-standard-4" }, Want: map[string]provider.Verdict{"machine type": provider.Refused}, Says: "m99-standard-4"},
		"a type that is too small":   {Sound: f.config(), Config: func(c *provider.Config) { c.Spec.GCP.MachineType = "e2-standard-2" }, Want: map[string]provider.Verdict{"machine type": provider.Refused}, Says: "e2-standard-2 has 2 vCPUs"},
		"an image that is not there": {Sound: f.config(), Machine: func(s *provider.MachineSpec) { s.Image = "projects/butler-example/global/images/none" }, Want: map[string]provider.Verdict{"image": provider.Refused}, Says: "none"},
		"another schematic":          {Sound: f.config(), Machine: func(s *provider.MachineSpec) { s.Schematic = strings.Repeat("a", 64) }, Want: map[string]provider.Verdict{"image": provider.Unknown}, Says: "schematic"},
		"a name of the wrong form":   {Sound: f.config(), Machine: func(s *provider.MachineSpec) { s.Name = "0-" + s.Name }, Want: map[string]provider.Verdict{"name": provider.Refused}, Says: "begins with a letter"},
		"more than the quota":        {Sound: f.config(), Machine: func(s *provider.MachineSpec) { s.CPU = 8 }, Want: map[string]provider.Verdict{"vCPU quota CPUS": provider.Refused}, Says: "24 vCPUs are requested"},
		"no way out, no rules, a poor role": {Sound: other.config(), Want: map[string]provider.Verdict{
			"permissions": provider.Refused, "subnet ": provider.Unknown, "firewall rules": provider.Refused,
		}, Says: "compute.regionBackendServices.create"},
	})
}
