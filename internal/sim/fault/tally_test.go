// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package fault_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// TestFaultWithoutAnyHitIsReported: who plans a fault can see whether it happened, of
// the plans before the present one too.
func TestFaultWithoutAnyHitIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := injector(t, "- {kind: throttle, verb: create, times: 1}\n- {kind: deny, machine: absent}\n- {kind: apiServerDies, machine: cp-0, for: 5s}")
		for range 3 {
			c.Inject(fault.Call{Verb: fault.Create, Resource: fault.Machine, Name: "cp-0"})
		}
		if _, on := c.APIServerDown("cp-1"); on {
			t.Error("another one is dead too")
		}
		expectTimes(t, c, []int{1, 0, 0})
		c.APIServerDown("cp-0")
		time.Sleep(5 * time.Second)
		c.APIServerDown("cp-0") // it is back
		expectTimes(t, c, []int{1, 0, 1})
		c.Replace(fault.Plan{})
		c.Replace(plan(t, "- {kind: lostResponse}"))
		expectTimes(t, c, []int{1, 0, 1}, []int{0})
		c.Inject(fault.Call{Verb: fault.Delete})
		expectTimes(t, c, []int{1, 0, 1}, []int{1})
		first, second := c.Tallies()[0], c.Tallies()[1]
		if idle := first.Idle(); len(idle) != 1 || idle[0].Machine != "absent" || second.Idle() != nil {
			t.Errorf("idle are %v and %v", idle, second.Idle())
		}
	})
}

func expectTimes(t *testing.T, c *fault.Injector, want ...[]int) {
	t.Helper()
	var got [][]int
	for _, tally := range c.Tallies() {
		got = append(got, tally.Times)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
