// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"fmt"
	"net/http"
	"testing"

	sim "github.com/butlerdotdev/butler/internal/sim/proxmox"
	"github.com/butlerdotdev/butler/provider"
)

// TestMachinesAtRestAreListedAndNotRead, until they change.
func TestMachinesAtRestAreListedAndNotRead(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	p := f.connected(t)
	var power string
	for i := range 3 {
		s, a := planned(t, p, machine(fmt.Sprintf("mgmt-w-%d", i)), provider.Attempt{})
		created(t, p, s)
		power = vmPath(a.Node, a.VMID) + "/status/"
	}
	look := func() (reads int64, states map[provider.State]int) {
		before, states := f.reads.Load(), map[provider.State]int{}
		all, err := p.ObserveAll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			states[m.State]++
		}
		return f.reads.Load() - before, states
	}
	look()
	look()
	if reads, states := look(); reads > 0 || states[provider.StateRunning] != 3 {
		t.Errorf("at rest %d requests read machines, which are %v", reads, states)
	}
	for _, act := range []string{"stop", "start"} {
		if err := f.admin.Call(t.Context(), http.MethodPost, power+act, nil); err != nil {
			t.Fatal(err)
		}
		operator{f}.idle(t.Context())
		reads, states := look()
		if want := map[string]int{"stop": 2, "start": 3}[act]; reads == 0 || reads > 3 || states[provider.StateRunning] != want {
			t.Errorf("after a %s %d requests read machines, which are %v", act, reads, states)
		}
	}
}
