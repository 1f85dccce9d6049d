// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/proxmox"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
	"github.com/butlerdotdev/butler/provider/providertest"
)

// TestARefusalKeepsTheVMID unless nothing can be cloned to it any more.
func TestARefusalKeepsTheVMID(t *testing.T) {
	last := attempt{Attempt: cloud.Attempt{Number: 2}, Shift: 1, VMID: 2100, Node: "pve1", Source: copyOf{"pve1", 9000}, After: "UPID:1"}
	kept := attempt{Attempt: cloud.Attempt{Number: 2}, Shift: 1, VMID: 2100, After: "UPID:1"}
	other := attempt{Attempt: cloud.Attempt{Number: 3}, Shift: 1}
	moved := attempt{Attempt: cloud.Attempt{Number: 3}, Shift: 2}
	for reason, want := range map[string]attempt{
		provider.ReasonCapacityExhausted: moved,
		provider.ReasonAttemptSpent:      other,
		provider.ReasonAttemptInvalid:    other,
		provider.ReasonDeletionRefused:   kept,
		provider.ReasonPermissionDenied:  kept,
		provider.ReasonNetworkNotFound:   kept,
		provider.ReasonPlatformConflict:  kept,
	} {
		if diff := cmp.Diff(want, last.next(provider.Invalid.New("create", reason, errors.New("refused"), ""))); diff != "" {
			t.Errorf("after %s: %s", reason, diff)
		}
	}
}

// TestAVMIDWithDisksIsNotTaken, although no VM has it: they are of a person, or left from a VM.
func TestAVMIDWithDisksIsNotTaken(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	p := f.connected(t)
	s := machine("mgmt-w-0")
	_, first := planned(t, p, s, provider.Attempt{})
	for i, node := range []string{"pve3", "pve1"} { // also on a node that is not chosen
		id := p.Machines.(machines).candidate(s.Owner.ID, i)
		err := f.admin.Call(t.Context(), http.MethodPost, "/nodes/"+node+"/storage/local-lvm/content", nil, "vmid", fmt.Sprint(id), "filename", fmt.Sprintf("vm-%d-disk-7", id), "size", "1G")
		if err != nil {
			t.Fatal(err)
		}
	}
	s, next := planned(t, p, s, provider.Attempt{})
	if first.Number != 0 || next.Number != 2 || next.VMID != p.Machines.(machines).candidate(s.Owner.ID, 2) {
		t.Errorf("first %+v, then %+v", first, next)
	}
	created(t, p, s)
	removed(t, p, s)
	if volumes, err := f.admin.Volumes(t.Context()); err != nil || len(volumes) != 2 {
		t.Errorf("the storages have %v: %v", volumes, err)
	}
}

// restarted is a controller that does not know what was begun before.
func restarted(t *testing.T, recorded bool) (f *fixture, p provider.Platform, s provider.MachineSpec) {
	t.Helper()
	f = newFixture(t, sim.Seed{Tasks: 500 * time.Millisecond})
	s = machine("mgmt-w-0")
	before := f.connected(t)
	if recorded {
		s, _ = planned(t, before, s, provider.Attempt{})
	}
	if is, err := before.Machines.Create(t.Context(), s); err != nil || is.State != provider.StatePartial {
		t.Fatalf("the machine is %s: %v", is.State, err)
	}
	return f, f.connected(t), s
}

// TestARestartDuringACloneCreatesNoSecondVM, also where the log of the clone does not show for
// which VM it is.
func TestARestartDuringACloneCreatesNoSecondVM(t *testing.T) {
	for _, recorded := range []bool{true, false} {
		f, p, s := restarted(t, recorded)
		until(t, func() (provider.Machine, error) {
			is, err := p.Machines.Create(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			return is, nil
		}, running)
		if vms, err := f.admin.VMs(t.Context()); err != nil || len(vms) != 1 {
			t.Errorf("the cluster has %v: %v", vms, err)
		}
	}
}

// TestADeletionAfterARestartAwaitsTheClone, so that no VM appears later, also if the range of
// VMIDs has changed.
func TestADeletionAfterARestartAwaitsTheClone(t *testing.T) {
	f, same, s := restarted(t, true)
	removed(t, same, s)
	operator{f}.idle(t.Context())
	if vms, err := f.admin.VMs(t.Context()); err != nil || len(vms) > 0 {
		t.Errorf("the cluster has %v: %v", vms, err)
	}
	f, _, s = restarted(t, true)
	removed(t, f.connected(t, onlyID(5000)), s)
	operator{f}.idle(t.Context())
	if vms, err := f.admin.VMs(t.Context()); err != nil || len(vms) > 0 {
		t.Errorf("with another range the cluster has %v: %v", vms, err)
	}
}

// TestIDsThatAreTakenAreThoseThatAreLookedAt, however often a machine was refused.
func TestIDsThatAreTakenAreThoseThatAreLookedAt(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	p := f.connected(t)
	s := machine("mgmt-w-0")
	own := &platform{spec: *f.config().Spec.Proxmox}
	last := attempt{Attempt: cloud.Attempt{Number: 7 * probes}, VMID: 2000, Node: "pve1", Source: copyOf{"pve1", 9000}}
	record, err := cloud.Record(last)
	if err != nil {
		t.Fatal(err)
	}
	_, a := planned(t, p, s, provider.Attempt{Record: record, Refused: spent("create", errors.New("taken"))})
	if !own.candidates(s.Owner.ID)[a.VMID] {
		t.Errorf("VMID %d of attempt %d is not looked at", a.VMID, a.Number)
	}
}

// TestNoVMIDIsPlannedForTwoMachines, while neither has a VM.
func TestNoVMIDIsPlannedForTwoMachines(t *testing.T) {
	p := newFixture(t, sim.Seed{}).connected(t, func(c *provider.Config) {
		c.Spec.Proxmox.VMIDRange = &v1alpha1.VMIDRange{Start: 2000, End: 2011}
	})
	ids := map[number]bool{}
	for i := range 12 {
		s := machine(fmt.Sprintf("mgmt-w-%d", i))
		_, a := planned(t, p, s, provider.Attempt{})
		_, again := planned(t, p, s, provider.Attempt{})
		if ids[a.VMID] || a.VMID != again.VMID {
			t.Errorf("%s has VMID %d and %d, others have %v", s.Name, a.VMID, again.VMID, ids)
		}
		ids[a.VMID] = true
	}
	_, err := p.Plan(t.Context(), machine("mgmt-w-12"), provider.Attempt{})
	if provider.ReasonOf(err) != reasonRange {
		t.Errorf("the range is exhausted, and the answer is %v", err)
	}
}

// TestAVMIDIsNotGivenUpDuringAClone: whose VM it will be is known then.
func TestAVMIDIsNotGivenUpDuringAClone(t *testing.T) {
	f := newFixture(t, sim.Seed{Tasks: 3 * time.Second})
	p := f.connected(t)
	s, a := planned(t, p, machine("mgmt-w-0"), provider.Attempt{})
	if err := f.admin.Call(t.Context(), http.MethodPost, vmPath(a.Source.Node, a.Source.VMID)+"/clone", nil, "newid", fmt.Sprint(a.VMID), "name", "by-hand"); err != nil {
		t.Fatal(err)
	}
	is, err := p.Machines.Create(t.Context(), s)
	if err != nil || is.State != provider.StatePartial {
		t.Errorf("while it is being cloned the machine is %s: %v", is.State, err)
	}
	_, err = until(t, func() (provider.Machine, error) { return p.Machines.Create(t.Context(), s) }, failedNow)
	if provider.ReasonOf(err) != provider.ReasonAttemptSpent {
		t.Errorf("then it is the VM of another: %v", err)
	}
}

// TestHalfAVMIsClonedAgain: a failed clone may have written name and description already.
func TestHalfAVMIsClonedAgain(t *testing.T) {
	f := newFixture(t, sim.Seed{Debris: "config"})
	p := f.connected(t)
	s, a := planned(t, p, machine("mgmt-w-0"), provider.Attempt{})
	lift, err := f.Inject(t.Context(), providertest.CreateFailsLate)
	if err != nil {
		t.Fatal(err)
	}
	create := func() (provider.Machine, error) { return p.Machines.Create(t.Context(), s) }
	until(t, create, func(m provider.Machine, err error) bool {
		return err == nil && strings.Contains(m.Message, fmt.Sprintf("qm unlock %d", a.VMID)) && strings.Contains(m.Message, "copy failed")
	})
	lift()
	if err := f.root(t).Put(t.Context(), vmPath(a.Node, a.VMID)+"/config", map[string]any{"delete": "lock", "skiplock": 1}, nil); err != nil {
		t.Fatal(err)
	}
	_, err = until(t, create, failedNow)
	if provider.ReasonOf(err) != provider.ReasonAttemptSpent {
		t.Fatalf("once it is deleted: %v", err)
	}
	s, _ = planned(t, p, s, provider.Attempt{Record: s.Attempt, Refused: err})
	created(t, p, s)
	if vms, err := f.admin.VMs(t.Context()); err != nil || len(vms) != 1 || vms[0].VMID == int(a.VMID) {
		t.Errorf("the cluster has %v: %v", vms, err)
	}
}
