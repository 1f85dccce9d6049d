// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"testing"

	sim "github.com/butlerdotdev/butler/internal/sim/proxmox"
	"github.com/butlerdotdev/butler/provider"
)

// TestAListingLeavesOutWhatACallCreates, and has it once the last call has ended.
func TestAListingLeavesOutWhatACallCreates(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	p := f.connected(t)
	s, a := planned(t, p, machine("mgmt-w-0"), provider.Attempt{})
	created(t, p, s)
	creating := p.Machines.(machines).creating
	listed := func() int {
		t.Helper()
		all, err := p.ObserveAll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	first, second := creating.begin(a.VMID), creating.begin(a.VMID)
	for _, end := range []func(){first, second} {
		if n := listed(); n != 0 {
			t.Errorf("%d machines are listed during a call", n)
		}
		end()
	}
	if n := listed(); n != 1 {
		t.Errorf("%d machines are listed afterwards", n)
	}
}
