// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"reflect"
	"slices"

	"github.com/butlerdotdev/butler/provider"
)

const ruleListing = "a listing agrees with observation"

// listingAgrees compares ObserveAll with Observe, for whole machines, for one that was
// cloned, and for half a one. A platform without ObserveAll is observed machine by
// machine.
func listingAgrees(t *trial) {
	if t.platform.ObserveAll == nil {
		return
	}
	first, cloned := t.spec(), t.spec()
	for _, s := range []provider.MachineSpec{first, cloned} {
		t.create(s)
		t.await(s.MachineRef, provider.StateRunning)
	}
	if t.suite.exercises("copies are kept") {
		t.clone(cloned.Name)
	}
	t.agrees(first.MachineRef)
	t.agrees(cloned.MachineRef)
	if !t.suite.exercises(rulePartial) {
		return
	}
	half := t.spec()
	lift := t.inject(HalfDone)
	_, _ = t.machines.Create(t.ctx, half)
	lift()
	t.agrees(half.MachineRef)
}

// agrees demands that the listing has the machine once, as Observe reports it. What
// the platform is changing just then may differ for a while.
func (t *trial) agrees(ref provider.MachineRef) {
	var listed []provider.Machine
	var observed provider.Machine
	same := t.poll(func() bool {
		all, err := t.platform.ObserveAll(t.ctx)
		if err != nil {
			t.fatalf("observe all: %v", err)
		}
		listed = slices.DeleteFunc(all, func(m provider.Machine) bool {
			return m.Ref.Owner.ID != ref.Owner.ID || m.State == provider.StateAbsent
		})
		observed = bare(t.observe(ref))
		return len(listed) == 1 && reflect.DeepEqual(bare(listed[0]), observed)
	})
	if !same {
		t.errorf("%s is listed as %+v and observed as %+v", ref.Name, listed, observed)
	}
}

// bare is a machine without what only List reports.
func bare(m provider.Machine) provider.Machine {
	m.Parts, m.Copies = nil, nil
	return m
}
