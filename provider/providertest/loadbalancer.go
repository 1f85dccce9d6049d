// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"fmt"
	"slices"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

const balancerPort = 6443

// balancers are the platform's, which must have some.
func (t *trial) balancers() provider.LoadBalancers {
	if t.platform.LoadBalancers == nil || t.suite.LoadBalancers == nil {
		t.fatalf("the platform or the suite has no LoadBalancers; argue in WithoutLoadBalancers why not")
	}
	return t.platform.LoadBalancers
}

// withoutLoadBalancers replaces the rules of a platform that has none.
func withoutLoadBalancers(t *trial) {
	if t.platform.LoadBalancers != nil {
		t.errorf("the platform offers LoadBalancers, which the suite denies: %s", t.suite.WithoutLoadBalancers)
	}
}

// targets are machines that run.
func (t *trial) targets(n int) []provider.Target {
	var all []provider.Target
	for range n {
		s := t.spec()
		t.create(s)
		m := t.await(s.MachineRef, provider.StateRunning)
		if len(m.Addresses) == 0 {
			t.fatalf("machine %s runs without an address", s.Name)
		}
		all = append(all, provider.Target{ID: m.ID, Name: s.Name, IP: m.Addresses[0].String()})
	}
	return all
}

// balancer is a load balancer of its own, which is removed in the end.
func (t *trial) balancer(targets []provider.Target) provider.LoadBalancerSpec {
	_ = t.balancers()
	s := provider.LoadBalancerSpec{
		LoadBalancerRef: provider.LoadBalancerRef{Name: newName(), Owner: newOwner()},
		Port:            balancerPort, HealthCheckPort: balancerPort, Targets: targets,
	}
	t.cleanups = append(t.cleanups, func() {
		if err := t.dropBalancer(s.LoadBalancerRef); err != nil {
			t.notes = append(t.notes, "load balancer "+s.Name+" may be left behind: "+err.Error())
		}
	})
	return s
}

// ensure asks until the load balancer runs.
func (t *trial) ensure(s provider.LoadBalancerSpec) provider.LoadBalancer {
	var last provider.LoadBalancer
	ok := t.poll(func() bool {
		var err error
		if last, err = t.balancers().Ensure(t.ctx, s); err != nil {
			t.fatalf("ensure: %v", err)
		}
		return last.State == provider.StateRunning
	})
	if !ok {
		t.fatalf("the load balancer is %s (%s) after %s", last.State, last.Message, t.suite.Patience)
	}
	return last
}

// dropBalancer deletes until the load balancer is Absent.
func (t *trial) dropBalancer(ref provider.LoadBalancerRef) error {
	var err error
	gone := t.poll(func() bool {
		var lb provider.LoadBalancer
		if lb, err = t.balancers().Observe(t.ctx, ref); err != nil || lb.State == provider.StateAbsent {
			return err == nil
		}
		err = t.balancers().Delete(t.ctx, ref)
		return false
	})
	if !gone && err == nil {
		err = fmt.Errorf("not Absent after %s", t.suite.Patience)
	}
	return err
}

func (t *trial) lookBalancers(name string) BalancerView {
	s, err := t.suite.LoadBalancers.InspectBalancers(t.ctx, name)
	if err != nil {
		t.fatalf("the operator cannot inspect load balancers: %v", err)
	}
	return s
}

// onlyBalancer is the one of that name, of which there must be exactly one.
func (t *trial) onlyBalancer(name string) BalancerState {
	s := t.lookBalancers(name)
	if len(s.Balancers) != 1 {
		t.fatalf("%d load balancers of the name are on the platform, want 1", len(s.Balancers))
	}
	return s.Balancers[0]
}

func (t *trial) observeBalancer(ref provider.LoadBalancerRef) provider.LoadBalancer {
	lb, err := t.balancers().Observe(t.ctx, ref)
	if err != nil {
		t.fatalf("observe load balancer: %v", err)
	}
	return lb
}

func balancerEnsure(t *trial) {
	s := t.balancer(t.targets(1))
	if lb := t.observeBalancer(s.LoadBalancerRef); lb.State != provider.StateAbsent {
		t.errorf("a missing load balancer is %s", lb.State)
	}
	if made := t.ensure(s); made.Endpoint == "" || made.ID == "" {
		t.errorf("it runs with ID %q and endpoint %q", made.ID, made.Endpoint)
	}
	seen := t.onlyBalancer(s.Name)
	if seen.Owner != s.Owner.ID || seen.Port != s.Port {
		t.errorf("on the platform it belongs to %q and listens on %d", seen.Owner, seen.Port)
	}
	t.balancerOfAnother(s)
}

// balancerOfAnother demands that a second request cannot have the name.
func (t *trial) balancerOfAnother(s provider.LoadBalancerSpec) {
	other := t.balancer(s.Targets)
	other.Name = s.Name
	_, err := t.balancers().Ensure(t.ctx, other)
	t.refused("ensure under the name of another request", err, provider.Conflict)
	if lb := t.observeBalancer(other.LoadBalancerRef); lb.State != provider.StateAbsent {
		t.errorf("another request's load balancer is observed as %s", lb.State)
	}
	if err := t.balancers().Delete(t.ctx, other.LoadBalancerRef); err != nil {
		t.errorf("delete of a request that has no load balancer: %v", err)
	}
	if lb := t.observeBalancer(s.LoadBalancerRef); lb.State != provider.StateRunning {
		t.errorf("the second request's delete left the first one's load balancer %s", lb.State)
	}
}

func balancerTargets(t *trial) {
	all := t.targets(3)
	s := t.balancer(nil)
	for _, targets := range [][]provider.Target{all[:1], all, all[2:]} {
		s.Targets = targets
		lb := t.ensure(s)
		if int(lb.Registered) != len(targets) {
			t.errorf("%d targets are reported, want %d", lb.Registered, len(targets))
		}
		seen := t.onlyBalancer(s.Name)
		if len(seen.Targets) != len(targets) {
			t.errorf("the platform has targets %v, want %d", seen.Targets, len(targets))
		}
		for _, want := range targets {
			if !slices.Contains(seen.Targets, want.ID) && !slices.Contains(seen.Targets, want.IP) {
				t.errorf("the platform has targets %v, which lack %s", seen.Targets, want.Name)
			}
		}
	}
}

func balancerPorts(t *trial) {
	s := t.balancer(t.targets(1))
	s.Scheme = v1alpha1.SchemeInternetFacing
	endpoint := t.ensure(s).Endpoint
	for _, change := range []struct {
		additional []int32
		clients    []string
	}{{[]int32{50000}, []string{"203.0.113.0/24"}}, {[]int32{50000, 50001}, []string{"198.51.100.0/24", "203.0.113.0/24"}}, {nil, nil}} {
		s.AdditionalPorts, s.AllowedCIDRs = change.additional, change.clients
		if lb := t.ensure(s); lb.Endpoint != endpoint {
			t.errorf("with other ports it is at %s, before at %s", lb.Endpoint, endpoint)
		}
		seen := t.onlyBalancer(s.Name)
		further := slices.DeleteFunc(slices.Sorted(slices.Values(seen.Ports)), func(p int32) bool { return p == seen.Port })
		if !slices.Equal(further, change.additional) {
			t.errorf("besides %d it listens on %v, want %v", seen.Port, further, change.additional)
		}
		want := change.clients
		if len(want) > 0 {
			want = slices.Sorted(slices.Values(slices.Concat(want, t.suite.MachineClients)))
		}
		if got := slices.Sorted(slices.Values(seen.AllowedCIDRs)); !slices.Equal(got, want) {
			t.errorf("it lets %v connect, want %v", got, want)
		}
	}
}

func balancerPartial(t *trial) {
	s := t.balancer(t.targets(1))
	lift := t.inject(HalfDoneLoadBalancer)
	_, err := t.balancers().Ensure(t.ctx, s)
	lift()
	if err != nil {
		t.refused("an ensure that stopped half-way", err, provider.Unavailable)
	}
	if lb := t.observeBalancer(s.LoadBalancerRef); lb.State != provider.StatePartial || lb.Message == "" {
		t.errorf("half a load balancer is %s (%q), want Partial and what is missing", lb.State, lb.Message)
	}
	t.ensure(s)
	t.onlyBalancer(s.Name)
}

func balancerDelete(t *trial) {
	s := t.balancer(t.targets(1))
	t.ensure(s)
	if err := t.dropBalancer(s.LoadBalancerRef); err != nil {
		t.fatalf("delete: %v", err)
	}
	if left := t.lookBalancers(s.Name); len(left.Balancers) > 0 || len(left.Parts) > 0 {
		t.errorf("left on the platform: %+v", left)
	}
}

func balancerRepeat(t *trial) {
	s := t.balancer(t.targets(1))
	first := t.ensure(s)
	if again := t.ensure(s); again.ID != first.ID || again.Endpoint != first.Endpoint {
		t.errorf("a second ensure reports %s at %s, the first %s at %s", again.ID, again.Endpoint, first.ID, first.Endpoint)
	}
	t.onlyBalancer(s.Name)
	if err := t.dropBalancer(s.LoadBalancerRef); err != nil {
		t.fatalf("delete: %v", err)
	}
	if err := t.balancers().Delete(t.ctx, s.LoadBalancerRef); err != nil {
		t.errorf("delete of what is gone: %v", err)
	}
}
