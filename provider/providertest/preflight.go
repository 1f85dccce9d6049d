// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// Preflight is a platform, or machines on it, with a defect that Preflight finds.
type Preflight struct {
	// Sound is the configuration that Config changes.
	Sound   provider.Config
	Config  func(*provider.Config)      // nil: no change
	Machine func(*provider.MachineSpec) // changes every machine; nil: no change
	// Want has what did not pass, by the beginning of a check; nil: everything passes.
	Want map[string]provider.Verdict
	// Says is in a finding.
	Says string
}

// Preflights checks a small cluster with each configuration.
func Preflights(t *testing.T, p provider.Provider, talosVersion string, all map[string]Preflight) {
	t.Helper()
	for name, c := range all {
		t.Run(name, func(t *testing.T) { c.check(t, p, Cluster(talosVersion)) })
	}
}

// Cluster returns the machines of a small cluster: three of 4 processors.
func Cluster(talosVersion string) (all []provider.MachineSpec) {
	for _, name := range []string{"mgmt-cp-0", "mgmt-cp-1", "mgmt-w-0"} {
		s := provider.MachineSpec{
			MachineRef: provider.MachineRef{Name: name, Owner: provider.Owner{ID: name, ClusterID: "c", Cluster: "mgmt"}},
			Role:       v1alpha1.RoleWorker, CPU: 4, MemoryMB: 16384, DiskGB: 50, TalosVersion: talosVersion,
		}
		if strings.Contains(name, "-cp-") {
			s.Role = v1alpha1.RoleControlPlane
		}
		all = append(all, s)
	}
	return all
}

func (c Preflight) check(t *testing.T, p provider.Provider, specs []provider.MachineSpec) {
	t.Helper()
	for i := range specs {
		if c.Machine != nil {
			c.Machine(&specs[i])
		}
	}
	config := c.Sound
	config.ProviderConfig = c.Sound.DeepCopy()
	if c.Config != nil {
		c.Config(&config)
	}
	opened, err := p.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	found, err := opened.Preflight.Check(t.Context(), specs)
	if err != nil {
		t.Fatal(err)
	}
	got, text := c.read(t, found)
	want := c.Want
	if want == nil {
		want = map[string]provider.Verdict{}
	}
	if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(text, c.Says) {
		t.Errorf("%s\n%s", diff, text)
	}
	if len(want) == 0 {
		ChoosesAndOffers(t, opened, config, specs)
		Prices(t, opened, config, specs)
	}
}

// read returns what did not pass, by the beginning that Want has for it, and all findings
// as text. Each names a message and what to do.
func (c Preflight) read(t *testing.T, found []provider.Finding) (got map[string]provider.Verdict, text string) {
	t.Helper()
	got = map[string]provider.Verdict{}
	for _, f := range found {
		text += f.Check + ": " + f.Message + "; " + f.Hint + "\n"
		if f.Verdict == provider.Passed {
			continue
		}
		for _, about := range slices.Sorted(maps.Keys(c.Want)) {
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
	return got, text
}

// RefusesArchitecture demands that an image of arm64 is refused for a machine whose size is
// of another architecture, in the preflight with what to do, and before it is created.
func RefusesArchitecture(t *testing.T, p provider.Platform, s provider.MachineSpec, image string) {
	t.Helper()
	says := func(text string) bool { return strings.Contains(strings.ToLower(text), "arm64") }
	s.Image = image
	_, err := p.Plan(t.Context(), s, provider.Attempt{})
	if provider.ReasonOf(err) != provider.ReasonInstanceTypeNotFound || !says(err.Error()) {
		t.Errorf("%v", err)
	}
	found, err := p.Preflight.Check(t.Context(), []provider.MachineSpec{s})
	refused := func(f provider.Finding) bool {
		return f.Verdict == provider.Refused && says(f.Message) && f.Hint != ""
	}
	if err != nil || !slices.ContainsFunc(found, refused) {
		t.Errorf("%v: %+v", err, found)
	}
}
