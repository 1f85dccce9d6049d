// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/butlerdotdev/butler/provider"
)

// TestAReadingHoldsUntilAddressesHaveSettled, then for long, and never for a machine that does
// not run or is listed otherwise.
func TestAReadingHoldsUntilAddressesHaveSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, up := &glances{of: map[number]glance{}}, provider.Machine{State: provider.StateRunning}
		r := resource{VMID: 100, Node: "pve1", Status: "running", QMP: "running", Tags: "b;a", PID: 7}
		r.readTags()
		other := r
		other.PID++
		holds := func(when string, r resource, want bool) {
			t.Helper()
			if _, got := g.holds(r); got != want {
				t.Errorf("%s a reading holds: %t", when, got)
			}
		}
		holds("before there is one,", r, false)
		v := &vm{resource: resource{Node: "pve1"}, settings: settings{"tags": "a;b"}, now: current{Status: "running", QMP: "running", PID: 7}}
		g.note(100, v.sign(), up)
		holds("at once,", r, true)
		holds("of another start", other, false)
		time.Sleep(settledAfter)
		holds("after a while", r, false)
		g.note(100, r.sign(), up)
		time.Sleep(settledAfter)
		holds("that was repeated", r, true)
		time.Sleep(rereadAfter)
		holds("after a long time", r, false)
		g.note(100, r.sign(), provider.Machine{State: provider.StatePending})
		holds("of a machine that does not run", r, false)
	})
}
