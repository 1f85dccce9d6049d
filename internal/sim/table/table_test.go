// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type thing struct{ Name string }

func open(t *testing.T, dir string) *Table[thing] {
	t.Helper()
	all, err := Open[thing](dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func names(all []*thing) (out []string) {
	for _, o := range all {
		out = append(out, o.Name)
	}
	return out
}

func TestObjectsSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	before := open(t, dir)
	for _, id := range []string{"b", "/groups/a.b/things/x", "c"} {
		before.Put(id, &thing{"first " + id})
	}
	before.Ensure("b", &thing{"second b"})
	before.Ensure("d", &thing{"first d"})
	before.Remove("c")
	before.Remove("never")
	after := open(t, dir)
	if diff := cmp.Diff([]string{"first /groups/a.b/things/x", "first b", "first d"}, names(after.All())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before.ByID, after.ByID); diff != "" {
		t.Error(diff)
	}
}

func TestASnapshotDoesNotChange(t *testing.T) {
	dir := t.TempDir()
	all := open(t, dir)
	all.Put("a", &thing{"before"})
	then := all.Snapshot()
	all.ByID["a"].Name = "after"
	then.Put("b", &thing{"of the past"})
	if diff := cmp.Diff([]string{"before", "of the past"}, names(then.All())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"before"}, names(open(t, dir).All())); diff != "" {
		t.Error(diff)
	}
	if got := all.Where(func(o *thing) bool { return o.Name == "before" }); len(got) != 0 {
		t.Errorf("the table still has %v", names(got))
	}
}
