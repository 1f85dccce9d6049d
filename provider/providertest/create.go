// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"net/netip"
	"time"

	"github.com/butlerdotdev/butler/provider"
)

func create(t *trial) {
	s := t.spec()
	var made provider.Machine
	err := t.promptly("create", func() error {
		m, err := t.machines.Create(t.ctx, s)
		made = m
		return err
	})
	if err != nil {
		t.fatalf("create: %v", err)
	}
	if made.Ref.Name != s.Name || made.State == provider.StateAbsent {
		t.errorf("create reports %s as %s", made.Ref.Name, made.State)
	}
	t.visibleOnceSettled(s)
	t.await(s.MachineRef, complete()...)
	seen := t.only(s.Name)
	if seen.Owner != s.Owner.ID {
		t.errorf("the machine on the platform belongs to %q, not to %q", seen.Owner, s.Owner.ID)
	}
	if seen.CPU < s.CPU || seen.MemoryMB < s.MemoryMB || seen.DiskGB < s.DiskGB {
		t.errorf("asked for %d CPU, %d MB, %d GB; the platform has %d, %d, %d",
			s.CPU, s.MemoryMB, s.DiskGB, seen.CPU, seen.MemoryMB, seen.DiskGB)
	}
}

// visibleOnceSettled demands that the machine is seen after Platform.Settle.
func (t *trial) visibleOnceSettled(s provider.MachineSpec) {
	settled := time.Now().Add(t.platform.Settle)
	for t.observe(s.MachineRef).State == provider.StateAbsent {
		if time.Now().After(settled) || t.ctx.Err() != nil {
			t.fatalf("created, but Absent after the announced settle time of %s", t.platform.Settle)
		}
		<-time.After(t.suite.Interval)
	}
}

func repeatCreate(t *trial) {
	s := t.spec()
	t.create(s)
	first := t.awaitID(s.MachineRef)
	again, err := t.machines.Create(t.ctx, s)
	if err != nil {
		t.fatalf("a second create of the same machine: %v", err)
	}
	if again.ID != first.ID {
		t.errorf("a second create reports machine %q, the first was %q", again.ID, first.ID)
	}
	t.only(s.Name)
}

func createAfterLostResponse(t *trial) {
	s := t.recorded(t.spec())
	lift := t.inject(LostResponse)
	_, err := t.machines.Create(t.ctx, s)
	lift()
	if err != nil {
		// A driver may find out by itself that the machine was made.
		t.refused("a create whose answer was lost", err, provider.Unavailable)
	}
	t.settle(s.MachineRef)
	if _, err := t.machines.Create(t.ctx, s); err != nil {
		t.errorf("create after a lost answer: %v", err)
	}
	t.await(s.MachineRef, complete()...)
	t.only(s.Name)
}

// settle waits as reconcilers do before they create again: until the machine is seen, or as
// long as the platform may be late.
func (t *trial) settle(ref provider.MachineRef) {
	for settled := time.Now().Add(t.platform.Settle); time.Now().Before(settled) && t.observe(ref).State == provider.StateAbsent; {
		<-time.After(t.suite.Interval)
	}
}

func partialCreateResumed(t *trial) {
	s := t.spec()
	lift := t.inject(HalfDone)
	_, err := t.machines.Create(t.ctx, s)
	lift()
	if err != nil {
		t.refused("a create that stopped half-way", err, provider.Unavailable)
	}
	seen := t.observe(s.MachineRef)
	if seen.State != provider.StatePartial || seen.Message == "" {
		t.errorf("half a machine is %s (%q), want Partial and what is missing", seen.State, seen.Message)
	}
	t.create(s)
	t.await(s.MachineRef, complete()...)
	t.only(s.Name)
}

func observeAbsent(t *trial) {
	s := t.spec()
	m, err := t.machines.Observe(t.ctx, s.MachineRef)
	if err != nil {
		t.fatalf("a missing machine is an error: %v", err)
	}
	if m.State != provider.StateAbsent {
		t.errorf("a missing machine is %s", m.State)
	}
	if m.Ref != s.MachineRef {
		t.errorf("requested %+v, reported %+v", s.MachineRef, m.Ref)
	}
}

func addressAppears(t *trial) {
	s := t.spec()
	t.create(s)
	m := t.await(s.MachineRef, provider.StateRunning)
	if len(m.Addresses) == 0 || m.ID == "" {
		t.errorf("Running with ID %q and addresses %v", m.ID, m.Addresses)
	}
	for _, a := range m.Addresses {
		if !usable(a) {
			t.errorf("address %s reaches no machine", a)
		}
	}
}

func usable(a netip.Addr) bool {
	return a.IsValid() && a.Zone() == "" && !a.IsLinkLocalUnicast() && !a.IsLoopback() && !a.IsUnspecified() && !a.IsMulticast()
}
