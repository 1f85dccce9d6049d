// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"slices"

	"github.com/google/uuid"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

func listByName(t *trial) {
	name := newName()
	in := func(s *provider.MachineSpec) { s.Owner.Cluster = name }
	a, b, other := t.spec(in), t.spec(in), t.spec()
	for _, s := range []provider.MachineSpec{a, b, other} {
		t.create(s)
		t.await(s.MachineRef, complete()...)
	}
	t.listed(provider.Owner{Cluster: name}, a, b)
	t.listed(provider.Owner{Cluster: name, ClusterID: a.Owner.ClusterID}, a)
	t.listed(provider.Owner{Cluster: name, ClusterID: other.Owner.ClusterID})
	t.listed(provider.Owner{Cluster: newName()})
}

// nameDecidesNothing calls a machine's cluster by another name: the machine is the
// same. The machine of another cluster that has the name has nothing to do with it.
func nameDecidesNothing(t *trial) {
	s := t.spec()
	t.create(s)
	first := t.awaitID(s.MachineRef)
	renamed := s
	renamed.Owner.Cluster = newName()
	if m := t.observe(renamed.MachineRef); m.ID != first.ID {
		t.errorf("under another name of its cluster the machine is %s with ID %q, want %q", m.State, m.ID, first.ID)
	}
	again, err := t.machines.Create(t.ctx, renamed)
	if err != nil || again.ID != first.ID {
		t.errorf("create under another name of the cluster reports %q, want %q: %v", again.ID, first.ID, err)
	}
	t.await(s.MachineRef, complete()...)
	namesake := t.spec(func(n *provider.MachineSpec) { n.Owner.Cluster = s.Owner.Cluster })
	t.create(namesake)
	t.await(namesake.MachineRef, complete()...)
	if err := t.deleteUntilAbsent(namesake.MachineRef); err != nil {
		t.fatalf("delete: %v", err)
	}
	if m := t.observe(s.MachineRef); m.State == provider.StateDeleting || m.State == provider.StateAbsent {
		t.fatalf("the delete for a cluster of the same name left the machine %s", m.State)
	}
	if err := t.deleteUntilAbsent(renamed.MachineRef); err != nil || t.observe(s.MachineRef).State != provider.StateAbsent {
		t.errorf("delete under another name of the cluster leaves the machine: %v", err)
	}
}

// listParts compares what List reports with what the operator sees, for a whole
// machine and for half a one.
func listParts(t *trial) {
	s := t.spec(func(s *provider.MachineSpec) {
		if t.suite.exercises("extra disks") {
			s.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 3}}
		}
		if t.suite.exercises("user data") {
			s.UserData = provider.Sensitive(longUserData())
		}
	})
	if _, err := t.machines.Create(t.ctx, s); err != nil {
		s.UserData = "" // what is too long may be refused
		t.create(s)
	}
	t.await(s.MachineRef, complete()...)
	t.parts(s.MachineRef, 1)
	if !t.suite.exercises(rulePartial) {
		return
	}
	half := t.spec()
	lift := t.inject(HalfDone)
	_, _ = t.machines.Create(t.ctx, half)
	lift()
	t.parts(half.MachineRef, len(t.look(half.Name).Machines))
}

// parts demands that List reports as many parts as there are, so many machines among
// them.
func (t *trial) parts(ref provider.MachineRef, machines int) {
	all, err := t.machines.List(t.ctx, ref.Owner)
	if err != nil || len(all) != 1 {
		t.fatalf("list reports %d machines, want 1: %v", len(all), err)
	}
	view, parts := t.look(ref.Name), all[0].Parts
	if want := len(view.Machines) + len(view.Parts); len(parts) != want {
		t.errorf("list reports the parts %v; the platform has %d machines and %v", parts, len(view.Machines), view.Parts)
	}
	t.named(parts)
	if got := len(slices.DeleteFunc(slices.Clone(parts), func(p provider.Part) bool { return p.Kind != "machine" })); got != machines {
		t.errorf("%d of the parts %v are machines, want %d", got, parts, machines)
	}
}

// named demands that every part has a kind and a name, and that none comes twice.
func (t *trial) named(parts []provider.Part) {
	seen := map[provider.Part]bool{}
	for _, p := range parts {
		if p.Kind == "" || p.Name == "" || seen[p] {
			t.errorf("the part %+v has no kind, no name, or comes twice", p)
		}
		seen[p] = true
	}
}

func balancerList(t *trial) {
	a, b := t.balancer(nil), t.balancer(nil)
	t.ensure(a)
	t.ensure(b)
	for _, o := range []provider.Owner{a.Owner, {ID: a.Owner.ID}, {ClusterID: a.Owner.ClusterID}, {Cluster: a.Owner.Cluster}} {
		all, err := t.balancers().List(t.ctx, o)
		if err != nil || len(all) != 1 || all[0].Ref != a.LoadBalancerRef {
			t.errorf("list for %+v reports %+v, want %s: %v", o, all, a.Name, err)
			continue
		}
		if len(all[0].Parts) == 0 {
			t.errorf("list reports no part of %s", a.Name)
		}
		t.named(all[0].Parts)
	}
	if all, err := t.balancers().List(t.ctx, provider.Owner{ID: uuid.NewString(), Cluster: a.Owner.Cluster}); err != nil || len(all) > 0 {
		t.errorf("list reports %d load balancers for an owner of none: %v", len(all), err)
	}
	_, err := t.balancers().List(t.ctx, provider.Owner{})
	t.refused("list without an owner", err, provider.Invalid)
}
