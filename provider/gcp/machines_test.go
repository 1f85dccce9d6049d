// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"strings"
	"testing"
	"time"

	sim "github.com/butlerdotdev/butler/internal/sim/gcp"
	"github.com/butlerdotdev/butler/provider"
)

// TestAStockOutIsFollowedByTheNextZone: the first zone's operation fails after it was
// accepted, the same call reports that, and the next attempt is in another zone.
func TestAStockOutIsFollowedByTheNextZone(t *testing.T) {
	f := newFixture(t, sim.Seed{FullZones: []string{"europe-west3-b"}})
	p := f.connected(t)
	s := cluster()[1] // number 1, so that the second zone is first
	record, err := p.Plan(t.Context(), s, provider.Attempt{})
	if err != nil || !strings.Contains(record, "europe-west3-b") {
		t.Fatalf("plan: %s, %v", record, err)
	}
	s.Attempt = record
	_, refused := p.Machines.Create(t.Context(), s)
	for end := time.Now().Add(20 * time.Second); refused == nil && time.Now().Before(end); <-time.After(50 * time.Millisecond) {
		m, err := p.Machines.Observe(t.Context(), s.MachineRef)
		if err != nil || m.ID != "" {
			t.Fatalf("observed %+v: %v", m, err)
		}
		if m.State == provider.StateAbsent && m.Certain {
			_, refused = p.Machines.Create(t.Context(), s)
		}
	}
	if provider.ReasonOf(refused) != provider.ReasonCapacityExhausted {
		t.Fatalf("%v", refused)
	}
	next, err := p.Plan(t.Context(), s, provider.Attempt{Record: record, Refused: refused})
	if err != nil || !strings.Contains(next, "europe-west3-c") || !strings.Contains(next, `"number":1`) {
		t.Fatalf("next plan: %s, %v", next, err)
	}
	s.Attempt = next
	if _, err := p.Machines.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	f.runs(t, p, s.MachineRef, "europe-west3-c")
}

// runs waits until a machine runs in a zone.
func (f *fixture) runs(t *testing.T, p provider.Platform, ref provider.MachineRef, zone string) provider.Machine {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; <-time.After(50 * time.Millisecond) {
		m, err := p.Machines.Observe(t.Context(), ref)
		if err != nil || time.Now().After(end) {
			t.Fatalf("observed %+v: %v", m, err)
		}
		if m.State == provider.StateRunning {
			if !strings.Contains(m.ID, "/zones/"+zone+"/") {
				t.Errorf("it runs as %s", m.ID)
			}
			return m
		}
	}
}

// TestAQuotaIsAskedForAgainInTheSameZone, as another operation.
func TestAQuotaIsAskedForAgainInTheSameZone(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	p := f.connected(t)
	s := cluster()[0]
	first, err := p.Plan(t.Context(), s, provider.Attempt{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := p.Plan(t.Context(), s, provider.Attempt{Record: first, Refused: provider.Exhausted.New("x", provider.ReasonQuotaExceeded, nil, "y")})
	if err != nil || strings.Replace(again, `"number":1`, `"number":0`, 1) != first {
		t.Errorf("%s, then %s: %v", first, again, err)
	}
}

// TestAnInstanceThatIsGoneIsAnotherAttempt: its request ID creates nothing more.
func TestAnInstanceThatIsGoneIsAnotherAttempt(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	p := f.connected(t)
	s := cluster()[0]
	var err error
	if s.Attempt, err = p.Plan(t.Context(), s, provider.Attempt{}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Machines.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	f.runs(t, p, s.MachineRef, "europe-west3-a")
	for m, err := p.Machines.Delete(t.Context(), s.MachineRef); m.State != provider.StateAbsent; m, err = p.Machines.Delete(t.Context(), s.MachineRef) {
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(50 * time.Millisecond)
	}
	if _, err = p.Machines.Create(t.Context(), s); provider.ReasonOf(err) != provider.ReasonAttemptSpent {
		t.Fatalf("create again: %v", err)
	}
	if s.Attempt, err = p.Plan(t.Context(), s, provider.Attempt{Record: s.Attempt, Refused: err}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Machines.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	f.runs(t, p, s.MachineRef, "europe-west3-a")
}
