// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	chart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/butlerdotdev/butler/charts"
	"github.com/butlerdotdev/butler/internal/addon"
)

func carriedFiles() fstest.MapFS {
	return fstest.MapFS{
		"butler-crds/Chart.yaml":             {Data: []byte("apiVersion: v2\nname: butler-crds\nversion: 0.0.0\nappVersion: v0.0.0\n")},
		"butler-crds/templates/_helpers.tpl": {Data: []byte("{{/* empty */}}")},
		"butler-crds/.helmignore":            {Data: []byte("hack\n*.md\n.helmignore\n")},
		"butler-crds/README.md":              {Data: []byte("for people")},
		"butler-crds/hack/sync.sh":           {Data: []byte("for developers")},
		"butler-crds/values.yaml":            {Data: []byte("a: 1\n")},
		"broken/Chart.yaml":                  {Data: []byte("name: broken\n")},
	}
}

func carriedAddon(name string) addon.Addon {
	return addon.Addon{Key: name, Version: "0.3.1", Source: addon.Source{Kind: addon.ChartCarried, Chart: name}}
}

func TestACarriedChartHasTheVersionOfTheProgram(t *testing.T) {
	files := carriedFiles()
	s := &Source{carried: files}
	c := fetched(t, s, carriedAddon("butler-crds"), nil)
	if m := c.Chart.Metadata; m.Version != "0.3.1" || m.AppVersion != "v0.3.1" || c.Chart.Values["a"] == nil || len(c.Chart.Templates) != 1 {
		t.Errorf("chart is %+v", c.Chart)
	}
	if len(c.Chart.Files) != 0 {
		t.Errorf("it has files that its .helmignore names: %v", c.Chart.Files)
	}
	again := fetched(t, s, carriedAddon("butler-crds"), nil)
	if c.Digest == "" || again.Digest != c.Digest {
		t.Errorf("checksums %q and %q of the same files", c.Digest, again.Digest)
	}
	files["butler-crds/values.yaml"].Data = []byte("a: 2\n")
	if changed := fetched(t, s, carriedAddon("butler-crds"), nil); changed.Digest == c.Digest {
		t.Error("other files have the same checksum")
	}
}

func TestTheChartsOfThisProjectAreCarried(t *testing.T) {
	entries, err := charts.FS.ReadDir(".")
	if err != nil || len(entries) == 0 {
		t.Fatalf("%d charts, %v", len(entries), err)
	}
	for _, e := range entries {
		c := fetched(t, &Source{carried: charts.FS}, carriedAddon(e.Name()), nil)
		for _, d := range c.Chart.Metadata.Dependencies {
			if !slices.ContainsFunc(c.Chart.Dependencies(), func(sub *chart.Chart) bool { return sub.Name() == d.Name }) {
				t.Errorf("%s goes without %s, on which it depends", e.Name(), d.Name)
			}
		}
	}
}

func TestACarriedChartIsNeverRedirected(t *testing.T) {
	s, err := New(Options{Charts: t.TempDir(), Carried: carriedFiles()})
	if err != nil {
		t.Fatal(err)
	}
	if c := fetched(t, s, carriedAddon("butler-crds"), nil); c.Origin != "this program" {
		t.Errorf("it came from %s", c.Origin)
	}
	if c := fetched(t, s, addon.Addon{Key: addon.KubeVIP, Source: addon.Source{Kind: addon.Objects}}, nil); c.Chart != nil || c.Digest != "" {
		t.Errorf("%+v was fetched for what the program makes itself", c)
	}
}

func TestWhatIsNotCarried(t *testing.T) {
	for name, want := range map[string]string{
		"butler-controller": "chart butler-controller 0.3.1 is not among the charts that this program carries",
		"broken":            "load chart broken 0.3.1, which this program carries: ",
	} {
		if err := refusal(t, &Source{carried: carriedFiles()}, carriedAddon(name), nil); !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
	if err := refusal(t, &Source{}, carriedAddon("butler-crds"), nil); !strings.Contains(err.Error(), "carries no charts") {
		t.Error(err)
	}
	if err := refusal(t, &Source{}, addon.Addon{Key: "x", Source: addon.Source{Kind: "Magic"}}, nil); !strings.Contains(err.Error(), "unknown kind") {
		t.Error(err)
	}
}
