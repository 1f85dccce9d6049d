// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func chain(key string, needs ...string) Addon { return Addon{Key: key, Needs: needs} }

func TestLevelsHoldWhatCanBeInstalledAtTheSameTime(t *testing.T) {
	got, err := Levels([]Addon{chain("d", "b", "c"), chain("c", "a"), chain("b", "a"), chain("a"), chain("e")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{"a", "e"}, {"c", "b"}, {"d"}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestLevelsRefuseWhatIsNoGraph(t *testing.T) {
	for name, c := range map[string]struct {
		addons []Addon
		want   string
	}{
		"a circle of three":       {[]Addon{chain("a", "c"), chain("b", "a"), chain("c", "b"), chain("d")}, "in a cycle: a, b, c"},
		"one that needs itself":   {[]Addon{chain("a", "a")}, "in a cycle: a"},
		"a need that is no addon": {[]Addon{chain("a", "x")}, "a needs x, which is not in the list"},
		"the same addon twice":    {[]Addon{chain("a"), chain("a")}, "a is listed twice"},
		"a circle behind a chain": {[]Addon{chain("a"), chain("b", "a", "c"), chain("c", "b")}, "in a cycle: b, c"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Levels(c.addons)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// The whole table is a graph, also of addons that no cluster has side by side.
func TestCatalogueHasNoCircleAndNoUnknownNeed(t *testing.T) {
	var all []Addon
	for _, r := range catalogue() {
		if slices.ContainsFunc(all, func(a Addon) bool { return a.Key == r.key }) {
			continue // another cloud's
		}
		a := Addon{Key: r.key}
		for _, n := range r.needs {
			a.Needs = append(a.Needs, n.key)
		}
		all = append(all, a)
	}
	if _, err := Levels(all); err != nil {
		t.Error(err)
	}
}

func TestCatalogueSaysHowToSwitchWhatIsNeededAndWhatNeeds(t *testing.T) {
	for _, r := range catalogue() {
		if r.on == "" {
			t.Errorf("%s: nothing says how to have it", r.key)
		}
		hard := slices.ContainsFunc(r.needs, func(n need) bool { return n.hard })
		if hard && r.off == "" {
			t.Errorf("%s: nothing says how to go without it", r.key)
		}
	}
}

func TestEveryAddonComesAfterItsNeeds(t *testing.T) {
	for _, s := range scenarios() {
		seen := map[string]bool{}
		for _, a := range resolve(t, s.spec, s.facts) {
			for _, n := range a.Needs {
				if !seen[n] {
					t.Errorf("%s: %s comes before %s", s.name, a.Key, n)
				}
			}
			seen[a.Key] = true
		}
	}
}

// Nodes of a cloud take no ordinary pods before their cloud controller manager
// runs, so that it must not wait for anything with such pods.
func TestCloudControllerManagerWaitsForNothing(t *testing.T) {
	for _, s := range scenarios() {
		for _, a := range resolve(t, s.spec, s.facts) {
			if a.Key == CloudControllerManager && len(a.Needs) > 0 {
				t.Errorf("%s: it waits for %v", s.name, a.Needs)
			}
		}
	}
}

func TestFullExampleIsInstalledInFewLevels(t *testing.T) {
	got, err := Levels(resolve(t, fullExample(), facts("10.40.0.200")))
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{KubeVIP, Cilium, ButlerCRDs},
		{CertManager, Longhorn, MetalLB, Flux, ButlerController, ButlerBootstrap, "butler-provider-harvester"},
		{Traefik, Steward},
		{CAPI},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
