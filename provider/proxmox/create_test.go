// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// TestAnIDThatWasTakenAfterTheListingIsAwaited, unless the attempt is recorded: an earlier call
// may clone to it.
func TestAnIDThatWasTakenAfterTheListingIsAwaited(t *testing.T) {
	m := machines{&platform{spec: v1alpha1.ProxmoxSpec{VMIDRange: &v1alpha1.VMIDRange{Start: 2000, End: 2999}}}}
	s := provider.MachineSpec{MachineRef: provider.MachineRef{Name: "a", Owner: provider.Owner{ID: "o"}}}
	first, second := m.candidate("o", 0), m.candidate("o", 1)
	for name, c := range map[string]struct {
		listed []number
		next   int
		record string
		want   number
	}{
		"the first is free":        {nil, 0, "", 0},
		"the first was listed":     {[]number{first}, 1, "", 0},
		"the first was not listed": {nil, 1, "", first},
		"the second was not":       {[]number{first}, 2, "", second},
		"a recorded attempt":       {nil, 2, "{}", 0},
	} {
		guests := map[number]bool{}
		for _, id := range c.listed {
			guests[id] = true
		}
		s.Attempt = c.record
		if got, _ := m.overtaken(&cluster{guests: guests}, s, attempt{Attempt: cloud.Attempt{Number: c.next}}); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
