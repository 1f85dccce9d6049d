// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/gcp"
	"github.com/butlerdotdev/butler/provider"
)

// cluster are machines of a small cluster.
func cluster() (all []provider.MachineSpec) {
	for _, name := range []string{"mgmt-cp-0", "mgmt-cp-1", "mgmt-w-0"} {
		all = append(all, provider.MachineSpec{
			MachineRef: provider.MachineRef{Name: name, Owner: provider.Owner{ID: name, ClusterID: "c", Cluster: "mgmt"}},
			Role:       v1alpha1.RoleWorker, CPU: 4, MemoryMB: 16384, DiskGB: 50, TalosVersion: talosVersion,
		})
	}
	return all
}

// TestPreflightRefusesWhatWouldFail: the sound project passes every check, and each defect
// is refused with what to do.
func TestPreflightRefusesWhatWouldFail(t *testing.T) {
	f := newFixture(t, sim.Seed{Quotas: map[string]float64{"CPUS": 16}})
	poor := slices.DeleteFunc(documented(t), func(p string) bool {
		return slices.Contains([]string{"compute.instances.create", "compute.regionBackendServices.create"}, p)
	})
	other := newFixture(t, sim.Seed{NoNAT: true, NoFirewall: true, Permissions: poor})
	for name, c := range map[string]struct {
		*fixture
		config  func(*provider.Config)
		machine func(*provider.MachineSpec)
		want    map[string]provider.Verdict // by the beginning of a check
		says    string
	}{
		"a sound project":            {fixture: f},
		"another subnetwork":         {fixture: f, config: func(c *provider.Config) { c.Spec.GCP.Subnetwork = "none" }, want: map[string]provider.Verdict{"subnetwork": provider.Refused}, says: "none"},
		"no subnetwork":              {fixture: f, config: func(c *provider.Config) { c.Spec.GCP.Subnetwork, c.Spec.GCP.Network = "", "" }, want: map[string]provider.Verdict{"subnetwork": provider.Refused}, says: "butler-nodes (network butler"},
		"another network":            {fixture: f, config: func(c *provider.Config) { c.Spec.GCP.Network = "default" }, want: map[string]provider.Verdict{"subnetwork": provider.Refused}, says: "not in default"},
		"another region":             {fixture: f, config: func(c *provider.Config) { c.Spec.GCP.Region = "mars-north1" }, want: map[string]provider.Verdict{"region": provider.Refused, "subnetwork": provider.Refused}, says: "europe-west3"},
		"another zone":               {fixture: f, config: func(c *provider.Config) { c.Spec.GCP.Zone = "us-central1-a" }, want: map[string]provider.Verdict{"region": provider.Refused}, says: "us-central1-a"},
		"another type":               {fixture: f, config: func(c *provider.Config) { c.Spec.GCP.MachineType = "m99-standard-4" }, want: map[string]provider.Verdict{"machine type": provider.Refused}, says: "m99-standard-4"},
		"a type that is too small":   {fixture: f, config: func(c *provider.Config) { c.Spec.GCP.MachineType = "e2-standard-2" }, want: map[string]provider.Verdict{"machine type": provider.Refused}, says: "e2-standard-2 has 2 vCPUs"},
		"an image that is not there": {fixture: f, machine: func(s *provider.MachineSpec) { s.Image = "projects/butler-example/global/images/none" }, want: map[string]provider.Verdict{"image": provider.Refused}, says: "none"},
		"another schematic":          {fixture: f, machine: func(s *provider.MachineSpec) { s.Schematic = strings.Repeat("a", 64) }, want: map[string]provider.Verdict{"image": provider.Unknown}, says: "schematic"},
		"a name of the wrong form":   {fixture: f, machine: func(s *provider.MachineSpec) { s.Name = "0-" + s.Name }, want: map[string]provider.Verdict{"name": provider.Refused}, says: "begins with a letter"},
		"more than the quota":        {fixture: f, machine: func(s *provider.MachineSpec) { s.CPU = 8 }, want: map[string]provider.Verdict{"vCPU quota CPUS": provider.Refused}, says: "24 vCPUs are asked for"},
		"no way out, no rules, a poor role": {fixture: other, want: map[string]provider.Verdict{
			"permissions": provider.Refused, "subnet ": provider.Unknown, "firewall rules": provider.Refused,
		}, says: "compute.regionBackendServices.create"},
	} {
		t.Run(name, func(t *testing.T) {
			specs := cluster()
			for i := range specs {
				if c.machine != nil {
					c.machine(&specs[i])
				}
			}
			if c.config == nil {
				c.config = func(*provider.Config) {}
			}
			found, err := c.connected(t, c.config).Preflight.Check(t.Context(), specs)
			if err != nil {
				t.Fatal(err)
			}
			got, text := map[string]provider.Verdict{}, ""
			for _, f := range found {
				text += f.Check + ": " + f.Message + "; " + f.Hint + "\n"
				if f.Verdict == provider.Passed {
					continue
				}
				for _, about := range slices.Sorted(maps.Keys(c.want)) {
					if strings.HasPrefix(f.Check, about) {
						f.Check = about
					}
				}
				if got[f.Check] != provider.Refused {
					got[f.Check] = f.Verdict
				}
				if f.Hint == "" || f.Message == "" {
					t.Errorf("%s has no hint or no message: %+v", f.Check, f)
				}
			}
			want := c.want
			if want == nil {
				want = map[string]provider.Verdict{}
			}
			if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(text, c.says) {
				t.Errorf("%s\n%s", diff, text)
			}
		})
	}
}
