// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReasonsAreFoundWhereverTheyAreGiven(t *testing.T) {
	root := repository(t, map[string]string{
		"api/v1/a.go": "package v1\n\nconst ReasonShared = \"Constant\"\n",
		"provider/p.go": `package provider
type Error struct{ Kind, Reason string }
func refuse(op, reason string) {}
func word() (reason string) { return "Returned" }
func failureReason() string { return "OfFunction" }
func use() {
	refuse("Operation", "Argument")
	_ = Error{"Kind", "Positional"}
	_ = []Error{{"Kind", "Listed"}}
	_ = &Error{Kind: "Kind", Reason: "Keyed"}
	e := Error{}
	e.Reason = "Assigned"
	events.Eventf(nil, nil, "Normal", "Recorded", "Action")
	refuse("", cmp.Or(other, "Fallback"))
	refuse("", v1.ReasonShared)
	refuse("", "not a reason")
}
`,
		"internal/a/a.go":           "package a\n\ntype kind struct{ Prefix string }\nvar k = kind{Prefix: \"VM\"}\nfunc b(reason string) { b(k.Prefix + \"Created\") }\n",
		"internal/a/a_test.go":      "package a\n\nconst reasonTest = \"InTest\"\n",
		"internal/sim/s.go":         "package sim\n\nconst reasonSim = \"Simulated\"\n",
		"internal/reason/reason.go": "package reason\n\nvar e = Entry{Reason: \"OnlyDescribed\"}\n",
	})
	found, err := Reasons(root)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Argument", "Assigned", "Constant", "Fallback", "Keyed", "Listed", "OfFunction", "Positional", "Recorded", "Returned", "VMCreated"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(found))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"api/v1/a.go", "provider/p.go"}, found["Constant"]); diff != "" {
		t.Error(diff)
	}
}
