// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package inmemory

import (
	"errors"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

func balancerSpec(name, owner string) provider.LoadBalancerSpec {
	ref := provider.LoadBalancerRef{Name: name, Owner: provider.Owner{ID: owner, ClusterID: "c"}}
	return provider.LoadBalancerSpec{LoadBalancerRef: ref, Port: 6443, Targets: []provider.Target{{ID: "m"}}}
}

func connectedBalancers(t *testing.T, p *Platform) provider.LoadBalancers {
	t.Helper()
	live, err := p.Provider("in-memory").Connect(t.Context(), provider.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return live.LoadBalancers
}

func TestLoadBalancersAreOfferedOnRequestOnly(t *testing.T) {
	if connectedBalancers(t, New(Options{})) != nil {
		t.Error("load balancers where there are none")
	}
	if connectedBalancers(t, New(Options{LoadBalancers: true})) == nil {
		t.Error("no load balancers")
	}
}

func TestAConflictingLoadBalancerIsAConflict(t *testing.T) {
	p := New(Options{LoadBalancers: true})
	lbs, mine, other := connectedBalancers(t, p), balancerSpec("a", "me"), balancerSpec("a", "other")
	if lb, err := lbs.Ensure(t.Context(), mine); err != nil || lb.State != provider.StateRunning || lb.Registered != 1 {
		t.Errorf("ensure: %+v, %v", lb, err)
	}
	if _, err := lbs.Ensure(t.Context(), other); provider.KindOf(err) != provider.Conflict {
		t.Errorf("ensure says %v", err)
	}
	if err := lbs.Delete(t.Context(), other.LoadBalancerRef); err != nil || len(p.LoadBalancers()) != 1 {
		t.Errorf("delete: %v, %d left", err, len(p.LoadBalancers()))
	}
	if all, err := lbs.List(t.Context(), provider.Owner{ClusterID: "c"}); err != nil || len(all) != 1 {
		t.Errorf("list: %v, %v", all, err)
	}
	if _, err := lbs.List(t.Context(), provider.Owner{}); provider.KindOf(err) != provider.Invalid {
		t.Errorf("list without an owner says %v", err)
	}
}

func TestTheSchemeOfALoadBalancerIsFixed(t *testing.T) {
	p, s := New(Options{LoadBalancers: true}), balancerSpec("a", "me")
	lbs := connectedBalancers(t, p)
	if _, err := lbs.Ensure(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	s.Scheme = v1alpha1.SchemeInternal
	if _, err := lbs.Ensure(t.Context(), s); provider.ReasonOf(err) != "SchemeFixed" {
		t.Errorf("ensure says %v", err)
	}
}

func TestFaultsOfLoadBalancers(t *testing.T) {
	p, s := New(Options{LoadBalancers: true}), balancerSpec("a", "me")
	lbs, boom := connectedBalancers(t, p), errors.New("boom")
	p.Refuse(boom, EnsureLoadBalancer, ObserveLoadBalancer)
	for range 2 {
		if _, err := lbs.Ensure(t.Context(), s); !errors.Is(err, boom) {
			t.Errorf("ensure says %v", err)
		}
	}
	p.Lift()
	p.HalveLoadBalancer()
	for _, want := range []provider.State{provider.StatePartial, provider.StateRunning} {
		if lb, err := lbs.Ensure(t.Context(), s); err != nil || lb.State != want {
			t.Errorf("ensure: %s, %v; want %s", lb.State, err, want)
		}
	}
	p.Lose(DeleteLoadBalancer)
	if err := lbs.Delete(t.Context(), s.LoadBalancerRef); provider.ReasonOf(err) != "AnswerLost" {
		t.Errorf("delete says %v", err)
	}
	if lb, err := lbs.Observe(t.Context(), s.LoadBalancerRef); err != nil || lb.State != provider.StateAbsent {
		t.Errorf("observe: %+v, %v", lb, err)
	}
}
