// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

func deletes(t *trial) {
	s := t.spec(func(s *provider.MachineSpec) {
		s.UserData = provider.Sensitive(longUserData())
		s.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 3}}
	})
	if !t.suite.exercises("extra disks") {
		s.ExtraDisks = nil
	}
	if !t.suite.exercises("user data") {
		s.UserData = ""
	}
	if _, err := t.machines.Create(t.ctx, s); err != nil {
		s.UserData = "" // what is too long may be refused
		t.create(s)
	}
	t.await(s.MachineRef, complete()...)
	t.removed(s.MachineRef)
	if !t.suite.exercises(rulePartial) {
		return
	}
	half := t.spec()
	lift := t.inject(HalfDone)
	_, _ = t.machines.Create(t.ctx, half)
	lift()
	t.removed(half.MachineRef)
}

// removed deletes a machine, of which nothing may be left once Delete reports Absent.
func (t *trial) removed(ref provider.MachineRef) {
	if err := t.promptly("delete", func() error { return t.remove(ref) }); err != nil {
		t.fatalf("delete: %v", err)
	}
	if err := t.deleteUntilAbsent(ref); err != nil {
		t.fatalf("delete: %v", err)
	}
	t.nothing(ref.Name)
	if m := t.observe(ref); m.State != provider.StateAbsent {
		t.errorf("delete reports Absent, and observe %s", m.State)
	}
}

func longUserData() string { return "#cloud-config\n# " + strings.Repeat("0123456789", 400) }

func repeatDelete(t *trial) {
	s := t.spec()
	t.create(s)
	t.await(s.MachineRef, complete()...)
	for _, when := range []string{"first", "second"} {
		if err := t.remove(s.MachineRef); err != nil {
			t.errorf("%s delete: %v", when, err)
		}
	}
	if err := t.deleteUntilAbsent(s.MachineRef); err != nil {
		t.fatalf("delete: %v", err)
	}
	if err := t.remove(s.MachineRef); err != nil {
		t.errorf("delete of what is gone: %v", err)
	}
}

func deleteUnknown(t *trial) {
	bystander := t.spec()
	t.create(bystander)
	before := t.only(bystander.Name)
	never := t.spec(func(s *provider.MachineSpec) { s.Name = bystander.Name + "-0" })
	if err := t.remove(never.MachineRef); err != nil {
		t.errorf("delete of what never existed: %v", err)
	}
	if after := t.only(bystander.Name); after.ID != before.ID || t.observe(bystander.MachineRef).State == provider.StateDeleting {
		t.errorf("delete of %s touched %s", never.Name, bystander.Name)
	}
}

func lateFailure(t *trial) {
	s := t.spec()
	lift := t.inject(CreateFailsLate)
	if _, err := t.machines.Create(t.ctx, s); err == nil {
		m := t.await(s.MachineRef, provider.StateBroken, provider.StatePartial, provider.StateAbsent)
		if m.State != provider.StateAbsent && m.Message == "" {
			t.errorf("the create task failed, and Observe does not say how")
		}
	}
	lift()
	if err := t.deleteUntilAbsent(s.MachineRef); err != nil {
		t.fatalf("delete of what could not be made: %v", err)
	}
	t.deleteFailsLate()
}

// deleteFailsLate demands that a machine is not Absent while it stands.
func (t *trial) deleteFailsLate() {
	s := t.spec()
	t.create(s)
	t.await(s.MachineRef, complete()...)
	lift := t.inject(DeleteFailsLate)
	if err := t.remove(s.MachineRef); err != nil {
		t.fatalf("delete: %v", err)
	}
	t.await(s.MachineRef, append(complete(), provider.StateBroken, provider.StatePartial, provider.StateStopped)...)
	lift()
	if err := t.deleteUntilAbsent(s.MachineRef); err != nil {
		t.errorf("delete again: %v", err)
	}
}
