// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"net/http"
	"slices"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// TestCategories has machines of several clusters on one Prism Central.
func TestCategories(t *testing.T) {
	f := newFixture(t)
	o, p := operator{f}, f.connected(t)
	t.Run("one that no VM has is listed and removed", func(t *testing.T) { removeUnused(t, o, p) })
	t.Run("that of a label is removed with the last cluster", func(t *testing.T) { shareLabel(t, o, p) })
}

func running(t *testing.T, p provider.Platform, s provider.MachineSpec) provider.Machine {
	t.Helper()
	if _, err := p.Machines.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	var m provider.Machine
	eventually(t, s.Name+" runs", func() (ok bool) {
		var err error
		m, err = p.Machines.Observe(t.Context(), s.MachineRef)
		return err == nil && m.State == provider.StateRunning
	})
	return m
}

// removeUnused interrupts a deletion after the last VM: the category is what is left.
func removeUnused(t *testing.T, o operator, p provider.Platform) {
	s := wantedSpec(func(s *provider.MachineSpec) { s.Labels = map[string]string{"tier": "gold"} })
	m := running(t, p, s)
	if all, err := p.Holdings(t.Context(), provider.Owner{ClusterID: s.Owner.ClusterID}); err != nil || len(all) != 1 || all[0].ID != m.ID {
		t.Errorf("with a VM: %+v, %v", all, err)
	}
	if err := o.call(t.Context(), http.MethodDelete, "vms/"+m.ID, nil, nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the VM is gone", func() bool {
		seen, err := o.Inspect(t.Context(), s.Name)
		return err == nil && len(seen.Machines) == 0
	})
	left := provider.Part{Kind: partCategory, Name: scope(s.Owner)}
	for _, by := range []provider.Owner{{Cluster: s.Owner.Cluster}, {ClusterID: s.Owner.ClusterID, Cluster: s.Owner.Cluster}, {ClusterID: s.Owner.ClusterID}} {
		all, err := p.Holdings(t.Context(), by)
		if err != nil || len(all) != 1 || !slices.Equal(all[0].Parts, []provider.Part{left}) || all[0].Owner.ClusterID != s.Owner.ClusterID || all[0].Owner.Cluster != s.Owner.Cluster {
			t.Fatalf("by %+v: %+v, %v", by, all, err)
		}
	}
	for _, by := range []provider.Owner{{Cluster: "other"}, {ClusterID: "other"}, s.Owner, {ID: s.Owner.ID}} {
		if all, err := p.Holdings(t.Context(), by); err != nil || len(all) != 0 {
			t.Errorf("by %+v: %+v, %v", by, all, err)
		}
	}
	all, _ := p.Holdings(t.Context(), provider.Owner{ClusterID: s.Owner.ClusterID})
	if state, _, err := p.Remove(t.Context(), all[0]); err != nil || state != provider.StateAbsent {
		t.Errorf("%s, %v", state, err)
	}
	if got := o.categories(t); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
	if all, err := p.Holdings(t.Context(), provider.Owner{ClusterID: s.Owner.ClusterID}); err != nil || len(all) != 0 {
		t.Errorf("afterwards: %+v, %v", all, err)
	}
}

// shareLabel has one label on machines of two clusters.
func shareLabel(t *testing.T, o operator, p provider.Platform) {
	label := func(s *provider.MachineSpec) { s.Labels = map[string]string{"tier": "gold"} }
	first := wantedSpec(label)
	second := wantedSpec(label, func(s *provider.MachineSpec) {
		s.Name, s.Owner = "shop-w-0", provider.Owner{ID: "second-owner", ClusterID: "second-cluster", Cluster: "shop"}
	})
	running(t, p, first)
	running(t, p, second)
	deleted(t, p.Machines, first.MachineRef)
	if got, want := o.categories(t), []string{scope(second.Owner), "tier"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	deleted(t, p.Machines, second.MachineRef)
	if got := o.categories(t); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

// TestALabelIsKeptWhileAnotherClusterRecordsIt, although no VM has it: its VM may be about to
// be created.
func TestALabelIsKeptWhileAnotherClusterRecordsIt(t *testing.T) {
	const there = `200 {"description":"{\"butler-cluster-id\":\"a\"}"}`
	p := pair{"tier", "gold"}
	for name, c := range map[string]struct {
		record []string // of the other cluster, each time it is looked for
		kept   bool
	}{
		"no record":             {[]string{"404"}, false},
		"a record":              {[]string{there}, true},
		"a record that goes":    {[]string{there, "404"}, false},
		"a record not readable": {[]string{"503"}, true},
	} {
		s, sent := server(t, answers{
			"POST /categories/list":                  {`200 {"metadata":{"total_matches":3},"entities":[{"name":"butler-a"},{"name":"butler-b"},{"name":"tier"}]}`},
			"GET /categories/butler-b/" + p.record(): c.record, "DELETE /categories/butler-a/" + p.record(): {"200"},
			"POST /category/query": {noUse}, "GET /categories/tier/gold": {there}, "GET /categories/tier": {there}, "DELETE /categories/tier/gold": {"200"}, "DELETE /categories/tier": {"200"},
		})
		m := machines{newPlatform(api(t, s), v1alpha1.NutanixSpec{}, "nutanix-prod")}
		_ = m.retireValue(t.Context(), provider.Owner{ClusterID: "a"}, category{"butler-a", p.record(), `{"key":"tier","value":"gold"}`}, nil)
		if kept := !slices.Contains(*sent, "DELETE /categories/tier/gold "); kept != c.kept {
			t.Errorf("%s: kept is %t: %q", name, kept, *sent)
		}
	}
}

const noUse = `200 {"results":[]}`

// TestALabelIsKeptWhileSomethingElseHasIt: images and policies are no VMs, and none is listed.
func TestALabelIsKeptWhileSomethingElseHasIt(t *testing.T) {
	const there = `200 {"description":"{\"butler-cluster-id\":\"a\"}"}`
	for name, c := range map[string]struct {
		uses []string // entities, policies
		kept bool
	}{
		"nothing":              {[]string{noUse, noUse}, false},
		"a VM that is gone":    {[]string{`200 {"results":[{"kind":"vm","total_entity_count":1}]}`, noUse}, false},
		"an image":             {[]string{`200 {"results":[{"kind":"vm","total_entity_count":0},{"kind":"image","total_entity_count":1}]}`}, true},
		"a policy":             {[]string{noUse, `200 {"results":[{"kind":"network_security_rule","filtered_entity_count":2}]}`}, true},
		"it is not known":      {[]string{"503"}, true},
		"it cannot be queried": {[]string{"404"}, true},
	} {
		s, sent := server(t, answers{
			"POST /category/query":      c.uses,
			"GET /categories/tier/gold": {there}, "GET /categories/tier": {there}, "DELETE /categories/tier/gold": {"200"}, "DELETE /categories/tier": {"200"},
		})
		m := machines{newPlatform(api(t, s), v1alpha1.NutanixSpec{}, "nutanix-prod")}
		err := m.retireLabel(t.Context(), pair{"tier", "gold"})
		if kept := !slices.Contains(*sent, "DELETE /categories/tier/gold "); kept != c.kept || (err != nil) != (name == "it is not known") {
			t.Errorf("%s: kept is %t, %v: %q", name, kept, err, *sent)
		}
		if want := `{"category_filter":{"params":{"tier":["gold"]},"type":"CATEGORIES_MATCH_ANY"},"group_member_count":1,"usage_type":"APPLIED_TO"}`; (*sent)[0] != "POST /category/query "+want {
			t.Errorf("%s: %s", name, (*sent)[0])
		}
	}
}

// TestACategoryInUseIsAskedAgain: the VM that has it may be on its way out.
func TestACategoryInUseIsAskedAgain(t *testing.T) {
	s, _ := server(t, answers{"DELETE /categories/butler-c/worker": {`409 {"state":"ERROR","message_list":[{"message":"It is assigned to vm u.","reason":"ENTITY_DELETION_FAILED"}]}`}})
	m := machines{newPlatform(api(t, s), v1alpha1.NutanixSpec{}, "nutanix-prod")}
	err := m.remove(t.Context(), "butler-c", "worker")
	if err == nil || provider.KindOf(err) != provider.Unavailable || provider.ReasonOf(err) != provider.ReasonDeletionRefused {
		t.Errorf("%s %s: %v", provider.KindOf(err), provider.ReasonOf(err), err)
	}
}
