// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"reflect"
	"sync"

	"github.com/google/uuid"

	"github.com/butlerdotdev/butler/provider"
)

func foreignMachine(t *trial) {
	s := t.spec()
	if err := t.suite.Operator.CreateConflict(t.ctx, s.Name); err != nil {
		t.fatalf("the operator cannot create a conflicting machine: %v", err)
	}
	before := t.look(s.Name)
	_, err := t.machines.Create(t.ctx, s)
	t.refused("create under a conflicting name", err, provider.Conflict)
	t.hinted("create under a conflicting name", err)
	t.disowned(s)
	if after := t.look(s.Name); !reflect.DeepEqual(before, after) {
		t.errorf("the conflicting machine was touched: %+v became %+v", before, after)
	}
}

// disowned demands that nothing under the name counts as the request's, and that
// its Delete has no effect.
func (t *trial) disowned(s provider.MachineSpec) {
	if m := t.observe(s.MachineRef); m.State != provider.StateAbsent {
		t.errorf("the machine of another owner is observed as %s", m.State)
	}
	if all, err := t.machines.List(t.ctx, s.Owner); err != nil || len(all) > 0 {
		t.errorf("list reports %d machines for an owner of none: %v", len(all), err)
	}
	if err := t.remove(s.MachineRef); err != nil {
		t.errorf("delete of a request that has no machine: %v", err)
	}
}

func twoRequests(t *trial) {
	first := t.spec()
	second := t.spec(func(s *provider.MachineSpec) { s.Name = first.Name })
	t.create(first)
	t.await(first.MachineRef, complete()...)
	_, err := t.machines.Create(t.ctx, second)
	t.refused("create under the name of another request", err, provider.Conflict)
	t.disowned(second)
	if seen := t.only(first.Name); seen.Owner != first.Owner.ID {
		t.errorf("the machine now belongs to %q", seen.Owner)
	}
	if m := t.observe(first.MachineRef); m.State == provider.StateDeleting || m.State == provider.StateAbsent {
		t.errorf("the second request's delete left the first one's machine %s", m.State)
	}
	t.race()
}

// race lets two requests ask for one name at once. Where names are unique one
// wins; in any case no request may have two machines or a machine of the other.
func (t *trial) race() {
	a := t.spec()
	b := t.spec(func(s *provider.MachineSpec) { s.Name = a.Name })
	var errs [2]error
	var both sync.WaitGroup
	for i, s := range []provider.MachineSpec{a, b} {
		both.Go(func() {
			m, err := t.machines.Create(t.ctx, s)
			if errs[i] = err; err == nil {
				errs[i] = t.finish(m)
			}
		})
	}
	both.Wait()
	if errs[0] != nil && errs[1] != nil {
		t.errorf("both requests fail: %v; %v", errs[0], errs[1])
	}
	owners := map[string]int{}
	for _, m := range t.look(a.Name).Machines {
		owners[m.Owner]++
	}
	for i, s := range []provider.MachineSpec{a, b} {
		if errs[i] != nil {
			t.refused("create in a race for one name", errs[i], provider.Conflict)
		}
		if n := owners[s.Owner.ID]; errs[i] == nil && n != 1 || n > 1 {
			t.errorf("a request has %d machines; its create said %v", n, errs[i])
		}
	}
}

func listByOwner(t *trial) {
	cluster := uuid.NewString()
	in := func(s *provider.MachineSpec) { s.Owner.ClusterID = cluster }
	a, b, other := t.spec(in), t.spec(in), t.spec()
	for _, s := range []provider.MachineSpec{a, b, other} {
		t.create(s)
		t.await(s.MachineRef, complete()...)
	}
	t.listed(provider.Owner{ClusterID: cluster}, a, b)
	t.listed(provider.Owner{ID: a.Owner.ID}, a)
	t.listed(other.Owner, other)
	t.listed(provider.Owner{ID: a.Owner.ID, ClusterID: other.Owner.ClusterID})
	_, err := t.machines.List(t.ctx, provider.Owner{})
	t.refused("list without an owner", err, provider.Invalid)
}

// listed demands that exactly these machines are reported for the owner.
func (t *trial) listed(o provider.Owner, want ...provider.MachineSpec) {
	all, err := t.machines.List(t.ctx, o)
	if err != nil {
		t.fatalf("list: %v", err)
	}
	got := map[provider.MachineRef]bool{}
	for _, m := range all {
		got[m.Ref] = true
	}
	for _, s := range want {
		if !got[s.MachineRef] {
			t.errorf("list for %+v lacks %s", o, s.Name)
		}
	}
	if len(all) != len(want) {
		t.errorf("list for %+v reports %d machines, want %d", o, len(all), len(want))
	}
}
