// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// TestARefusalKeepsTheVMID unless nothing can be cloned to it any more.
func TestARefusalKeepsTheVMID(t *testing.T) {
	last := attempt{Attempt: cloud.Attempt{Number: 2}, Shift: 1, VMID: 2100, Node: "pve1", Source: copyOf{"pve1", 9000}, After: "UPID:1"}
	kept := attempt{Attempt: cloud.Attempt{Number: 2}, Shift: 1, VMID: 2100, After: "UPID:1"}
	other := attempt{Attempt: cloud.Attempt{Number: 3}, Shift: 1}
	moved := attempt{Attempt: cloud.Attempt{Number: 3}, Shift: 2}
	for reason, want := range map[string]attempt{
		provider.ReasonCapacityExhausted: moved,
		provider.ReasonAttemptSpent:      other,
		provider.ReasonAttemptInvalid:    other,
		provider.ReasonDeletionRefused:   kept,
		provider.ReasonPermissionDenied:  kept,
		provider.ReasonNetworkNotFound:   kept,
		provider.ReasonPlatformConflict:  kept,
	} {
		if diff := cmp.Diff(want, last.next(provider.Invalid.New("create", reason, errors.New("refused"), ""))); diff != "" {
			t.Errorf("after %s: %s", reason, diff)
		}
	}
}
