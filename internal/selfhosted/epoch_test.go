// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package selfhosted

import (
	"testing"

	"github.com/butlerdotdev/butler/internal/pivot"
	"github.com/butlerdotdev/butler/internal/workspace"
)

func TestAnyLaterEpochFencesAnOlderCopy(t *testing.T) {
	here := pivot.Standing{Exists: true, ClusterID: "one", Epoch: 1}
	for reason, c := range map[string]struct {
		there pivot.Standing
		want  string
	}{
		"the cluster does not answer":   {pivot.Standing{}, ""},
		"another cluster":               {pivot.Standing{Exists: true, ClusterID: "two", Epoch: 2}, ""},
		"the same epoch":                {pivot.Standing{Exists: true, ClusterID: "one", Epoch: 1}, ""},
		"moved to this plane":           {pivot.Standing{Exists: true, ClusterID: "one", Epoch: 1, Fenced: "moved to workstation a at epoch 1 (move x)"}, ""},
		"the cluster manages itself":    {pivot.Standing{Exists: true, ClusterID: "one", Epoch: 2}, "older than epoch 2, at which cluster dev manages itself; this plane was restored from a copy"},
		"moved on to a second operator": {pivot.Standing{Exists: true, ClusterID: "one", Epoch: 3, Fenced: "moved to workstation b at epoch 3 (move y)"}, "older than epoch 3, at which cluster dev was moved to workstation b at epoch 3 (move y); this plane was restored from a copy"},
	} {
		if got := fenceReason((workspace.Workspace{Name: "dev"}), here, c.there); got != c.want {
			t.Errorf("%s: got %q, want %q", reason, got, c.want)
		}
	}
}
