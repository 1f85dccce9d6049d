// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/butlerdotdev/butler/internal/ui"
)

func load(t *testing.T) Fields {
	t.Helper()
	all, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAFieldIsFoundByItsNameOrTheEndOfIt(t *testing.T) {
	all := load(t)
	for text, want := range map[string]string{
		"ClusterBootstrap":                       "ClusterBootstrap",
		"clusterbootstrap":                       "ClusterBootstrap",
		"ClusterBootstrap.spec.cluster.topology": "ClusterBootstrap.spec.cluster.topology",
		"spec.cluster.topology":                  "ClusterBootstrap.spec.cluster.topology",
		"cluster.topology":                       "ClusterBootstrap.spec.cluster.topology",
		"topology":                               "ClusterBootstrap.spec.cluster.topology",
		"harvester.imageName":                    "ProviderConfig.spec.harvester.imageName",
		"workers.extraDisks[].sizeGB":            "ClusterBootstrap.spec.cluster.workers.extraDisks.sizeGB",
		"ClusterBootstrap.spec.cluster.workers.extraDisks.sizeGB": "ClusterBootstrap.spec.cluster.workers.extraDisks.sizeGB",
		"TenantCluster.spec":            "TenantCluster.spec",
		"ClusterBootstrap.status.phase": "ClusterBootstrap.status.phase",
	} {
		if found := all.Find(text); len(found) != 1 || found[0].Name() != want {
			t.Errorf("%s: %+v, want %s", text, names(found), want)
		}
	}
}

func names(all Fields) (out []string) {
	for _, f := range all {
		out = append(out, f.Name())
	}
	return out
}

func TestATextThatMeansSeveralFieldsNamesThem(t *testing.T) {
	got := names(load(t).Find("replicas"))
	if !slices.Contains(got, "ClusterBootstrap.spec.cluster.workers.replicas") || !slices.Contains(got, "ClusterBootstrap.spec.cluster.controlPlane.replicas") {
		t.Errorf("%v", got)
	}
}

func TestAnUnknownFieldHasNeighbours(t *testing.T) {
	all := load(t)
	for text, want := range map[string]string{
		"spec.cluster.toplogy": "ClusterBootstrap.spec.cluster.topology", "ClusterBootsrap": "ClusterBootstrap", "imagename": "ProviderConfig.spec.harvester.imageName",
	} {
		if text != "imagename" && len(all.Find(text)) != 0 {
			t.Errorf("%s is found", text)
		}
		if got := all.Nearest(text); !slices.Contains(got, want) || len(got) > nearby {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
	if got := all.Nearest("qqqqqqqq"); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

func TestEveryFieldOfAManifestIsDocumented(t *testing.T) {
	all := load(t)
	for _, f := range all {
		for line := range strings.SplitSeq(all.Render(f), "\n") {
			// A name or a pattern is not wrapped.
			if w := ansi.StringWidth(line); w > ui.Columns && len(strings.Fields(line)) > 2 {
				t.Errorf("%s: %d columns: %s", f.Name(), w, line)
			}
		}
		if isFirst(f) && isSpec(f) && f.Path != "spec" && f.schema.Description == "" {
			t.Errorf("%s is not documented", f.Name())
		}
	}
}

func TestAPageHasWhatTheSchemaSays(t *testing.T) {
	all := load(t)
	for text, want := range map[string][]string{
		"spec.cluster.topology":             {"field:      ClusterBootstrap.spec.cluster.topology\n", "default:    ha\n", "type:       string\n", "required:   no\n"},
		"controlPlane.memoryMB":             {"at least 2048", "required:   yes"},
		"spec.harvester.imageName":          {"provider:   harvester\n"},
		"ClusterBootstrap.spec":             {"FIELDS (* is required)", "\n  cluster*", "\n  remediation "},
		"workers.extraDisks":                {"list of object", "at most 16 entries", "\n  sizeGB*"},
		"ClusterBootstrap.spec.remediation": {"one of None, ReplaceWorkers"},
	} {
		found := all.Find(text)
		if len(found) != 1 {
			t.Errorf("%s: %v", text, names(found))
			continue
		}
		for _, w := range want {
			if page := all.Render(found[0]); !strings.Contains(page, w) {
				t.Errorf("%s has no %q:\n%s", text, w, page)
			}
		}
	}
}
