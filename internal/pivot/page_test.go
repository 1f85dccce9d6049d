// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

import (
	"os"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// The page names every stage, in its table and in its picture, and everything by
// which a move can be followed from outside.
func TestPageReportsOfEveryStage(t *testing.T) {
	data, err := os.ReadFile("../../docs/concepts/pivot.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	_, picture, _ := strings.Cut(page, "```mermaid")
	picture, _, _ = strings.Cut(picture, "```")
	for _, s := range []Stage{Prepare, Copy, Verify, Switch, Retire, Done, RolledBack} {
		if !strings.Contains(page, "| `"+string(s)+"` |") {
			t.Errorf("the page has no row for %s", s)
		}
		if !strings.Contains(picture, strings.ReplaceAll(string(s), "-", "_")) {
			t.Errorf("the picture lacks %s", s)
		}
	}
	for _, want := range []string{
		v1alpha1.AnnotationPlane, v1alpha1.AnnotationEpoch, v1alpha1.AnnotationFenced, JournalName("<name>"), v1alpha1.ConditionPivoted, "`move`", "`report`", "`cause`", "`made`",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not mention %s", want)
		}
	}
}
