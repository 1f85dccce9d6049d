// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		if got := CountByKind(given); got != want {
			t.Errorf("split(%v) = %q, want %q", given, got, want)
		}
	}
	if got, want := Contents(parts("disk/x", "disk/y", "machine/a", "secret/s")), "machine, 2 disks, secret"; got != want {
		t.Errorf("contents = %q, want %q", got, want)
	}
}

func TestClustersOfOneNameAreDistinguished(t *testing.T) {
	all := Inventory{
		{Name: "a", Owner: provider.Owner{ID: "1", ClusterID: "x", Cluster: "c"}},
		{Name: "b", Owner: provider.Owner{ID: "2", ClusterID: "y", Cluster: "c"}},
		{Name: "c", Owner: provider.Owner{ID: "3", ClusterID: "x", Cluster: "c"}},
		{Name: "d", Owner: provider.Owner{ID: "4", Cluster: "c"}},
	}
	got := map[string][]string{}
	for id, of := range all.ByCluster() {
		for _, h := range of {
			got[id] = append(got[id], h.Name)
		}
	}
	want := map[string][]string{"x": {"a", "c"}, "y": {"b"}, "": {"d"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
