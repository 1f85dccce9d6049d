// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"reflect"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/provider"
)

// copiesAreKept clones a machine with all its tags. The clone is listed as a copy,
// is no part of the machine, and outlives its deletion.
func copiesAreKept(t *trial) {
	s := t.spec()
	t.create(s)
	t.await(s.MachineRef, complete()...)
	clone := t.clone(s.Name)
	before := t.look(clone)
	t.copied(s.MachineRef, clone, true)
	t.untouchable(provider.MachineRef{Name: clone, Owner: s.Owner})
	if err := t.deleteUntilAbsent(s.MachineRef); err != nil {
		t.fatalf("delete beside a copy: %v", err)
	}
	if after := t.look(clone); !reflect.DeepEqual(before, after) {
		t.fatalf("the copy was touched: %+v became %+v", before, after)
	}
	t.copied(s.MachineRef, clone, false)
}

// clone copies a machine until the rule has been checked, and returns the name of
// the copy.
func (t *trial) clone(name string) string {
	as := newName()
	remove, err := t.suite.Operator.Clone(t.ctx, name, as)
	if err != nil {
		t.fatalf("the operator cannot clone a machine; argue in Unexercised why not: %v", err)
	}
	t.cleanups = append(t.cleanups, remove)
	return as
}

// copied demands that List reports the copy as a copy, and the machine, if there is
// one, with its own parts alone.
func (t *trial) copied(ref provider.MachineRef, clone string, exists bool) {
	all, err := t.machines.List(t.ctx, ref.Owner)
	if err != nil || len(all) != 1 || all[0].Ref != ref {
		t.fatalf("list reports %+v, want %s alone: %v", all, ref.Name, err)
	}
	m := all[0]
	if exists == (m.State == provider.StateAbsent) {
		t.errorf("the machine beside a copy is listed as %s", m.State)
	}
	of := func(p provider.Part) bool { return strings.Contains(p.Name, clone) }
	if slices.ContainsFunc(m.Parts, of) || !exists && len(m.Parts) > 0 {
		t.errorf("list reports the parts %v, of which some are copies", m.Parts)
	}
	if !slices.ContainsFunc(m.Copies, of) {
		t.errorf("list reports the copies %v, and nothing of %s", m.Copies, clone)
	}
	t.named(m.Copies)
}

// untouchable demands that a copy is not observed as a machine, and asks to delete it.
func (t *trial) untouchable(ref provider.MachineRef) {
	if m, err := t.machines.Observe(t.ctx, ref); err == nil && m.State != provider.StateAbsent {
		t.errorf("a copy is observed as %s", m.State)
	}
	// What it answers is judged by other rules, and what it does below.
	_, _ = t.machines.Delete(t.ctx, ref)
}
