// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/provider"
)

func TestASourceThatDoesNotAnswerIsUnknown(t *testing.T) {
	digests, failed := fetchAll([]addon.Addon{{Key: "a"}, {Key: "b"}, {Key: "made here"}}, func(a addon.Addon) (string, error) {
		return map[string]string{"a": "sha256:1"}[a.Key], map[string]error{"b": errors.New("no answer; check the connection")}[a.Key]
	})
	if diff := cmp.Diff(map[string]string{"a": "sha256:1"}, digests); diff != "" {
		t.Error(diff)
	}
	want := []provider.Finding{{Check: "source of b", Verdict: provider.Unknown, Message: "no answer", Hint: "check the connection"}}
	if diff := cmp.Diff(want, failed); diff != "" {
		t.Error(diff)
	}
}
