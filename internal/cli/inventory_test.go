// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/provider"
)

func parts(text ...string) (out []provider.Part) {
	for _, t := range text {
		kind, name, _ := strings.Cut(t, "/")
		out = append(out, provider.Part{Kind: kind, Name: name})
	}
	return out
}

func TestPartsAreCountedByKind(t *testing.T) {
	for want, given := range map[string][]provider.Part{
		"":                          nil,
		"1 machine":                 parts("machine/a"),
		"2 machines, 1 disk":        parts("disk/x", "machine/a", "machine/b"),
		"1 machine, 2 addresses":    parts("address/x", "machine/a", "address/y"),
		"2 load balancers, 1 probe": parts("probe/p", "load balancer/a", "load balancer/b"),
		"1 disk, 1 secret, 1 fence": parts("fence/f", "secret/s", "disk/d"),
	} {
		if got := split(given); got != want {
			t.Errorf("split(%v) = %q, want %q", given, got, want)
		}
	}
	if got, want := contents(parts("disk/x", "disk/y", "machine/a", "secret/s")), "machine, 2 disks, secret"; got != want {
		t.Errorf("contents = %q, want %q", got, want)
	}
}

func TestClustersOfOneNameAreToldApart(t *testing.T) {
	all := inventory{
		{name: "a", owner: provider.Owner{ID: "1", ClusterID: "x", Cluster: "c"}},
		{name: "b", owner: provider.Owner{ID: "2", ClusterID: "y", Cluster: "c"}},
		{name: "c", owner: provider.Owner{ID: "3", ClusterID: "x", Cluster: "c"}},
		{name: "d", owner: provider.Owner{ID: "4", Cluster: "c"}},
	}
	got := map[string][]string{}
	for id, of := range all.byCluster() {
		for _, h := range of {
			got[id] = append(got[id], h.name)
		}
	}
	want := map[string][]string{"x": {"a", "c"}, "y": {"b"}, "": {"d"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestTableHasRequestsWithoutMachinesAndFits(t *testing.T) {
	long := strings.Repeat("very-long-name-", 6)
	all := inventory{
		{name: "dev-cp-0", owner: provider.Owner{ID: "1"}, state: provider.StateRunning, parts: parts("machine/m", "disk/r", "disk/e")},
		{name: long, owner: provider.Owner{ID: "2"}, state: provider.StateDeleting, parts: parts("machine/m", "disk/r", "secret/e", "address/1", "address/2", "load balancer/l")},
	}
	rows := all.rows(map[string]asked{"1": {name: "dev-cp-0"}, "9": {name: "dev-cp-1"}})
	text := table(slices.Clone(rows))
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > ui.Columns {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	if len(rows) != 3 || rows[2] != (row{"dev-cp-1", "-", nothingYet}) {
		t.Errorf("rows %+v", rows)
	}
	for _, want := range []string{"dev-cp-0  ", "  Running   machine, 2 disks\n", "very-long-name-very", "…  Deleting  "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
