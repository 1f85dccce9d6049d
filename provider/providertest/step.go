// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/butlerdotdev/butler/provider"
)

// discard removes a machine as well as the driver can.
func (t *trial) discard(ref provider.MachineRef) {
	if t.machines == nil {
		return
	}
	if err := t.deleteUntilAbsent(ref); err != nil {
		t.notes = append(t.notes, fmt.Sprintf("machine %s may be left behind: %v", ref.Name, err))
	}
}

// create makes a machine, which must succeed.
func (t *trial) create(s provider.MachineSpec) {
	m, err := t.machines.Create(t.ctx, s)
	if err == nil {
		err = t.finish(m)
	}
	if err != nil {
		t.fatalf("create: %v", err)
	}
}

// finish takes the further steps of a machine, on a platform that needs several, as the
// reconciler does: Create is asked again while the machine is Partial.
func (t *trial) finish(m provider.Machine) (err error) {
	t.poll(func() bool {
		if err == nil && m.State == provider.StatePartial {
			m, err = t.proceed(m)
		}
		return err != nil || m.State != provider.StatePartial || !t.suite.Steps
	})
	return err
}

// proceed takes the next step of a machine that is Partial, on a platform that needs several.
// A step that meets another writer, such as a task of the platform, is taken again.
func (t *trial) proceed(m provider.Machine) (provider.Machine, error) {
	s, asked := t.heard.last(m.Ref)
	if !t.suite.Steps || !asked || m.State != provider.StatePartial {
		return m, nil
	}
	next, err := t.machines.Create(t.ctx, s)
	if err != nil && provider.ReasonOf(err) == provider.ReasonPlatformConflict {
		return m, nil
	}
	return next, err
}

// observe reports a machine, which must succeed.
func (t *trial) observe(ref provider.MachineRef) provider.Machine {
	m, err := t.machines.Observe(t.ctx, ref)
	if err != nil {
		t.fatalf("observe: %v", err)
	}
	return m
}

// await observes the machine until it is in one of the states.
func (t *trial) await(ref provider.MachineRef, states ...provider.State) provider.Machine {
	var last provider.Machine
	ok := t.poll(func() bool {
		last = t.observe(ref)
		if slices.Contains(states, last.State) {
			return true
		}
		t.mustProceed(last)
		return false
	})
	if !ok {
		t.fatalf("the machine is %s (%s), not %v, after %s", last.State, last.Message, states, t.suite.Patience)
	}
	return last
}

// awaitID observes the machine until the platform has given it its ID, which it may do
// when the machine is complete.
func (t *trial) awaitID(ref provider.MachineRef) provider.Machine {
	var last provider.Machine
	ok := t.poll(func() bool {
		last = t.observe(ref)
		t.mustProceed(last)
		return slices.Contains(complete(), last.State) && last.ID != ""
	})
	if !ok {
		t.fatalf("the machine is %s (%s) with ID %q after %s", last.State, last.Message, last.ID, t.suite.Patience)
	}
	return last
}

// mustProceed takes the next step, which must succeed.
func (t *trial) mustProceed(m provider.Machine) {
	if _, err := t.proceed(m); err != nil {
		t.fatalf("create again: %v", err)
	}
}

// complete are the states of a machine of which nothing is missing.
func complete() []provider.State {
	return []provider.State{provider.StatePending, provider.StateRunning}
}

// poll asks until done, or until the suite's patience is over.
func (t *trial) poll(done func() bool) bool {
	ctx, cancel := context.WithTimeout(t.ctx, t.suite.Patience)
	defer cancel()
	for !done() {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(t.suite.Interval):
		}
	}
	return true
}

// remove asks once to delete a machine.
func (t *trial) remove(ref provider.MachineRef) error {
	_, err := t.machines.Delete(t.ctx, ref)
	return err
}

// deleteUntilAbsent deletes as the reconciler does: again until nothing is left.
func (t *trial) deleteUntilAbsent(ref provider.MachineRef) error {
	var err error
	gone := t.poll(func() bool {
		var left provider.Machine
		left, err = t.machines.Delete(t.ctx, ref)
		return err == nil && left.State == provider.StateAbsent
	})
	if !gone && err == nil {
		err = fmt.Errorf("not Absent after %s", t.suite.Patience)
	}
	return err
}

// look returns what is on the platform under the name.
func (t *trial) look(name string) View {
	s, err := t.suite.Operator.Inspect(t.ctx, name)
	if err != nil {
		t.fatalf("the operator cannot inspect a machine: %v", err)
	}
	return s
}

// only is the machine of that name, of which there must be exactly one.
func (t *trial) only(name string) MachineState {
	s := t.look(name)
	if len(s.Machines) != 1 {
		t.fatalf("%d machines of the name are on the platform, want 1", len(s.Machines))
	}
	return s.Machines[0]
}

// nothing demands that nothing is on the platform under the name.
func (t *trial) nothing(name string) {
	if s := t.look(name); len(s.Machines) > 0 || len(s.Parts) > 0 {
		t.errorf("left on the platform: %d machines, parts %v", len(s.Machines), s.Parts)
	}
}

// inject breaks the platform until the returned function is called, at the
// latest when the rule has been checked.
func (t *trial) inject(f Fault) func() {
	lift, err := t.suite.Operator.Inject(t.ctx, f)
	if err != nil {
		t.fatalf("the operator cannot inject %q; argue in Unexercised why not: %v", f, err)
	}
	lifted := false
	once := func() {
		if !lifted {
			lifted = true
			lift()
		}
	}
	t.cleanups = append(t.cleanups, once)
	return once
}
