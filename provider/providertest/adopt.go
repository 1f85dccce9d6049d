// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"reflect"

	"github.com/google/uuid"

	"github.com/butlerdotdev/butler/provider"
)

// adoptsWhatIsNamed adopts a machine that another program created, if name and ID are
// its own. A platform that cannot adopt has nothing to keep.
func adoptsWhatIsNamed(t *trial) {
	if t.platform.Adopt == nil {
		return
	}
	s := t.spec()
	if err := t.suite.Operator.CreateConflict(t.ctx, s.Name); err != nil {
		t.fatalf("the operator cannot create a conflicting machine: %v", err)
	}
	id := t.only(s.Name).ID
	t.leaves(s.Name, func() {
		t.refused("adopt a machine with another ID", t.adopt(s.MachineRef, uuid.NewString()), provider.Invalid)
	})
	for range 2 {
		if err := t.adopt(s.MachineRef, id); err != nil {
			t.fatalf("adopt: %v", err)
		}
	}
	if m := t.observe(s.MachineRef); m.ID != id {
		t.errorf("the adopted machine is %s with ID %q, want %q", m.State, m.ID, id)
	}
	other := t.spec(func(o *provider.MachineSpec) { o.Name = s.Name })
	t.leaves(s.Name, func() {
		t.refused("adopt the machine of another request", t.adopt(other.MachineRef, id), provider.Conflict)
	})
	if err := t.deleteUntilAbsent(s.MachineRef); err != nil {
		t.fatalf("delete what was adopted: %v", err)
	}
	if left := t.look(s.Name).Machines; len(left) > 0 {
		t.errorf("the adopted machine is still there: %+v", left)
	}
}

// adopt asks again while the platform cannot: another writer may have been faster.
func (t *trial) adopt(ref provider.MachineRef, id string) (err error) {
	t.poll(func() bool {
		err = t.platform.Adopt(t.ctx, ref, id)
		t.heard.err(err)
		return err == nil || provider.KindOf(err) != provider.Unavailable
	})
	return err
}

// leaves demands that something does not touch a machine.
func (t *trial) leaves(name string, something func()) {
	before := t.look(name)
	something()
	if after := t.look(name); !reflect.DeepEqual(before, after) {
		t.errorf("the machine was touched: %+v became %+v", before, after)
	}
}
