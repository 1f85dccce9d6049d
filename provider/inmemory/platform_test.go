// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package inmemory

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

func spec(name, owner string) provider.MachineSpec {
	return provider.MachineSpec{MachineRef: provider.MachineRef{Name: name, Owner: provider.Owner{ID: owner, ClusterID: "c"}}}
}

func state(t *testing.T, p *Platform, s provider.MachineSpec) provider.State {
	t.Helper()
	m, err := p.Observe(t.Context(), s.MachineRef)
	if err != nil {
		t.Fatal(err)
	}
	return m.State
}

func TestAMachineLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{AddressDelay: time.Minute, DeleteDelay: time.Minute})
		s := spec("a", "me")
		if got := state(t, p, s); got != provider.StateAbsent {
			t.Errorf("at first %s", got)
		}
		for range 2 {
			if m, err := p.Create(t.Context(), s); err != nil || m.State != provider.StatePending {
				t.Errorf("create: %+v, %v", m, err)
			}
		}
		time.Sleep(time.Minute)
		if got := state(t, p, s); got != provider.StateRunning {
			t.Errorf("after a minute %s", got)
		}
		if list, err := p.List(t.Context(), provider.Owner{ClusterID: "c"}); err != nil || len(list) != 1 {
			t.Errorf("list: %v, %v", list, err)
		}
		for range 2 {
			if _, err := p.Delete(t.Context(), s.MachineRef); err != nil {
				t.Error(err)
			}
			if got := state(t, p, s); got != provider.StateDeleting {
				t.Errorf("after delete %s", got)
			}
		}
		time.Sleep(time.Minute)
		if got := state(t, p, s); got != provider.StateAbsent {
			t.Errorf("in the end %s", got)
		}
	})
}

func TestAConflictingNameIsAConflict(t *testing.T) {
	p := New(Options{})
	p.CreateConflict(provider.MachineRef{Name: "a", Owner: provider.Owner{ID: "other"}})
	if _, err := p.Create(t.Context(), spec("a", "me")); provider.KindOf(err) != provider.Conflict {
		t.Errorf("create says %v", err)
	}
	if _, err := p.Delete(t.Context(), spec("a", "me").MachineRef); err != nil || len(p.Machines()) != 1 {
		t.Errorf("delete: %v, %d machines", err, len(p.Machines()))
	}
}

func TestFaultsComeInOrderAndOnce(t *testing.T) {
	p, s := New(Options{}), spec("a", "me")
	boom := errors.New("boom")
	p.Fail(Create, boom)
	p.Lose(Create)
	if _, err := p.Create(t.Context(), s); !errors.Is(err, boom) || len(p.Machines()) != 0 {
		t.Errorf("refused create: %v, %d machines", err, len(p.Machines()))
	}
	if _, err := p.Create(t.Context(), s); err == nil || len(p.Machines()) != 1 {
		t.Errorf("lost create: %v, %d machines", err, len(p.Machines()))
	}
	p.Hide(1)
	if a, b := state(t, p, s), state(t, p, s); a != provider.StateAbsent || b != provider.StateRunning {
		t.Errorf("hidden: %s, then %s", a, b)
	}
	h := spec("h", "me")
	p.Halve()
	if m, err := p.Create(t.Context(), h); err != nil || m.State != provider.StatePartial {
		t.Errorf("halved: %+v, %v", m, err)
	}
	if m, err := p.Create(t.Context(), h); err != nil || m.State != provider.StateRunning {
		t.Errorf("resumed: %+v, %v", m, err)
	}
	if _, err := p.Create(cancelled(t), s); provider.KindOf(err) != provider.Unavailable {
		t.Errorf("cancelled: %v", err)
	}
}

func cancelled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestChangesAreAnnouncedUntilTheContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{Push: true, AddressDelay: time.Second})
		live, err := p.Provider(v1alpha1.ProviderHarvester).Connect(t.Context(), provider.Config{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		changes := live.Changes(ctx)
		s := spec("a", "me")
		if _, err := p.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if ref := <-changes; ref != s.MachineRef {
			t.Errorf("announced %+v", ref)
		}
		cancel()
		if _, open := <-changes; open {
			t.Error("the channel is not closed")
		}
	})
}
