// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/provider/tag"
)

// listed is an object "kind name" that belongs to "owner machine cluster".
func listed(object, tags string) Object[int] {
	kind, name, _ := strings.Cut(object, " ")
	of := append(strings.Split(tags, " "), "", "", "")
	return Object[int]{Part: Part{Kind: kind, Name: name}, Tags: tag.Set{OwnerID: of[0], Machine: of[1], Cluster: of[2], ClusterID: "c-" + of[0]}}
}

func copied(object, tags string) Object[int] {
	o := listed(object, tags)
	o.Copy = true
	return o
}

func TestObjectsAreGroupedByTheirOwner(t *testing.T) {
	all := []Object[int]{
		listed("secret a-init", "1 a mgmt"), listed("disk a-root", "1 a"), listed("machine a", "1 a mgmt"),
		listed(" instance", "1 a mgmt"),
		copied("machine clone", "1 a mgmt"),
		listed("machine b", "2 b"), listed("disk b-root", "2 b other"),
		copied("disk restored", "3 gone mgmt"),
		listed(" leftover-instance", "4 d mgmt"),
		listed("machine foreign", " e mgmt"),
		listed("disk x", "1 second"),
	}
	for cluster, want := range map[string][]string{
		"": {
			"1/c-1/mgmt a: machine a, disk a-root, secret a-init; copies: machine clone",
			"1/c-1/ second: disk x; copies: ",
			"2/c-2/other b: machine b, disk b-root; copies: ",
			"3/c-3/mgmt gone: ; copies: disk restored",
		},
		"mgmt": {
			"1/c-1/mgmt a: machine a, disk a-root, secret a-init; copies: machine clone",
			"3/c-3/mgmt gone: ; copies: disk restored",
		},
		"nowhere": nil,
	} {
		var got []string
		for _, g := range Assemble(all, cluster) {
			got = append(got, text(g))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", cluster, diff)
		}
	}
}

func text(g Group[int]) string {
	parts, copies := g.Parts()
	names := func(all []Part) string {
		var out []string
		for _, p := range all {
			out = append(out, p.Kind+" "+p.Name)
		}
		return strings.Join(out, ", ")
	}
	o := g.Ref.Owner
	return o.ID + "/" + o.ClusterID + "/" + o.Cluster + " " + g.Ref.Name + ": " + names(parts) + "; copies: " + names(copies)
}

// TestAnOriginalNamesTheOwner although a copy of it is listed first.
func TestAnOriginalNamesTheOwner(t *testing.T) {
	clone := copied("machine clone", "1 a mgmt")
	clone.Tags.ClusterID = "c-of-the-clone"
	got := Assemble([]Object[int]{clone, listed("machine a", "1 a")}, "")
	if len(got) != 1 || got[0].Ref.Owner != (Owner{ID: "1", ClusterID: "c-1", Cluster: "mgmt"}) {
		t.Errorf("%+v", got)
	}
}
