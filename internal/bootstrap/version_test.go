// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/talos"
)

func TestEveryMachineRunsTheTalosThatWasAskedFor(t *testing.T) {
	runs := func(version string) *inspected { return &inspected{Report: talos.Report{Version: version}} }
	old := &inspected{Report: talos.Report{Old: true}}
	for reason, tc := range map[string]struct {
		want       string
		nodes      []*inspected
		configured bool
		phase      v1alpha1.ClusterBootstrapPhase
		says       []string // nothing: no failure
	}{
		"all do":                          {want: "v1.12.0", nodes: []*inspected{runs("v1.12.0"), runs("v1.12.0"), runs("v1.12.0")}},
		"some do not answer":              {want: "v1.12.0", nodes: []*inspected{runs("v1.12.0"), nil, runs("")}},
		"a worker does not":               {want: "v1.12.0", nodes: []*inspected{runs("v1.12.0"), nil, runs("v1.9.2")}, says: []string{"worker-0 (worker) runs Talos v1.9.2", "spec.talos.version is v1.12.0", "or set spec.talos.version"}},
		"none does":                       {want: "v1.12.0", nodes: []*inspected{runs("v1.9.2"), runs("v1.9.2"), runs("v1.9.2")}, says: []string{"cp-0 (a) runs Talos v1.9.2 (and 2 more)"}},
		"another patch":                   {want: "v1.12.0", nodes: []*inspected{runs("v1.12.1"), nil, nil}, says: []string{"v1.12.1"}},
		"one that is too old to report":   {want: "v1.12.0", nodes: []*inspected{old, nil, nil}, says: []string{"a Talos before v1.10"}},
		"old ones, and old is asked for":  {want: "v1.9.2", nodes: []*inspected{old, old, old}},
		"a machine is configured already": {want: "v1.9.2", nodes: []*inspected{runs("v1.9.3"), nil, nil}, configured: true, says: []string{"start it from an image of Talos v1.9.2"}},
		"the cluster was Ready":           {want: "v1.9.2", nodes: []*inspected{runs("v1.9.3"), nil, nil}, phase: v1alpha1.BootstrapReady},
	} {
		s := withControlPlanes("a", "b")
		s.Spec.Talos.Version, s.Status.Phase, s.Status.Machines[1].TalosConfigured = tc.want, tc.phase, tc.configured
		err := s.checkVersions(tc.nodes)
		if (err != nil) != (len(tc.says) > 0) {
			t.Errorf("%s: %v", reason, err)
			continue
		}
		for _, words := range tc.says {
			if !strings.Contains(err.Error(), words) {
				t.Errorf("%s: %v, want %q in it", reason, err, words)
			}
		}
		if tc.configured && strings.Contains(err.Error(), "or set") {
			t.Errorf("%s: what is immutable is to be changed: %v", reason, err)
		}
	}
}

func TestAnImageOfAnotherSchematicIsWarnedOf(t *testing.T) {
	for reason, tc := range map[string]struct {
		report talos.Report
		want   string
	}{
		"the same":         {talos.Report{Version: "v1.12.0", Image: talos.Image{Schematic: "abc"}}, ""},
		"not known":        {talos.Report{Version: "v1.12.0"}, ""},
		"another":          {talos.Report{Version: "v1.12.0", Image: talos.Image{Schematic: "def"}}, "TalosSchematicMismatch"},
		"another version":  {talos.Report{Version: "v1.12.3", Image: talos.Image{Schematic: "abc"}}, "TalosVersionMismatch"},
		"a version before": {talos.Report{Old: true, Image: talos.Image{Schematic: "abc"}}, "TalosVersionMismatch"},
	} {
		s := withControlPlanes("a")
		s.Spec.Talos = v1alpha1.TalosSpec{Version: "v1.12.0", Schematic: "abc"}
		got := ""
		s.Record = func(e Event) { got += e.Reason }
		if s.warnOfImage(0, tc.report); got != tc.want {
			t.Errorf("%s: %q", reason, got)
		}
	}
}

func TestAnImageWithoutANeededExtensionIsAFailure(t *testing.T) {
	for reason, tc := range map[string]struct {
		image   talos.Image
		storage string
		says    string
	}{
		"the same schematic":          {talos.Image{Schematic: "abc"}, "longhorn", ""},
		"not an image of a factory":   {talos.Image{}, "longhorn", ""},
		"another, without iSCSI":      {talos.Image{Schematic: "def", Extensions: []string{"util-linux-tools"}}, "longhorn", "lacks the extension iscsi-tools"},
		"another, with both":          {talos.Image{Schematic: "def", Extensions: []string{"util-linux-tools", "iscsi-tools"}}, "longhorn", ""},
		"another, and none is needed": {talos.Image{Schematic: "def"}, "none", ""},
	} {
		s := withControlPlanes("a")
		s.Spec.Talos.Schematic, s.Spec.Addons.Storage.Type = "abc", tc.storage
		err := s.checkExtensions("cp-0", tc.image)
		if (err != nil) != (tc.says != "") || err != nil && !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}
