// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package reason

import (
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/internal/arch"
)

func TestEveryReasonHasOneEntryAndEveryEntryAReason(t *testing.T) {
	given, err := arch.Reasons("../..")
	if err != nil {
		t.Fatal(err)
	}
	entries := map[string]int{}
	for _, g := range Groups() {
		for _, e := range g.Entries {
			entries[e.Reason]++
			if len(given[e.Reason]) == 0 {
				t.Errorf("%s has an entry, but no code gives it", e.Reason)
			}
		}
	}
	for name, files := range given {
		if entries[name] != 1 {
			t.Errorf("%s, given in %s, has %d entries; add one to internal/reason", name, strings.Join(files, ", "), entries[name])
		}
	}
}

func TestEntriesHaveCausesAndSentencesOfOneStyle(t *testing.T) {
	for _, g := range Groups() {
		for _, e := range g.Entries {
			for _, text := range []string{e.Cause, e.Remedy} {
				if strings.HasSuffix(text, ".") || strings.Contains(text, "|") || text != strings.TrimSpace(text) {
					t.Errorf("%s: %q does not fit into a table", e.Reason, text)
				}
			}
			if e.Cause == "" {
				t.Errorf("%s has no cause", e.Reason)
			}
		}
	}
}

func TestOfFindsAnEntry(t *testing.T) {
	if e, ok := Of("VMLost"); !ok || e.Remedy == "" {
		t.Errorf("Of(VMLost) = %v, %v", e, ok)
	}
	if e, ok := Of("NoSuchReason"); ok {
		t.Errorf("Of(NoSuchReason) = %v", e)
	}
}
