// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

const (
	token        = "in-memory-token-that-must-stay-secret"
	knownImage   = "talos"
	knownNetwork = "workloads"
)

func TestTheInMemoryPlatformKeepsTheContract(t *testing.T) {
	s, _ := inMemory()
	Run(t, s)
}

// inMemory is the suite of a platform that keeps every rule.
func inMemory() (Suite, *inmemory.Platform) {
	p := inmemory.New(inmemory.Options{
		AddressDelay: 20 * time.Millisecond, DeleteDelay: 20 * time.Millisecond, Push: true, Listing: true, Wire: true, LoadBalancers: true, NodeProviderIDs: true, Plans: true,
		Images: []string{knownImage}, Networks: []string{knownNetwork}, NoNetworkData: true,
	})
	c := provider.Config{ProviderConfig: &v1alpha1.ProviderConfig{}}
	c.Name = "in-memory"
	c.Spec.Harvester = &v1alpha1.HarvesterSpec{NetworkName: knownNetwork}
	c.Credentials = provider.NewCredentials(map[string][]byte{"token": []byte(token)})
	c.Transport.DialContext = p.Dial
	b := &operator{p}
	return Suite{
		Provider: p.Provider("in-memory"), Config: c, Operator: b, LoadBalancers: b,
		Machine: provider.MachineSpec{CPU: 2, MemoryMB: 2048, DiskGB: 10, Image: knownImage},
		Network: &provider.Network{Address: netip.MustParsePrefix("192.0.2.7/24"), Gateway: netip.MustParseAddr("192.0.2.1")},
		Secrets: []string{token},
		Missing: map[string]Change{
			"image":   func(_ *provider.Config, s *provider.MachineSpec) { s.Image = "unheard-of" },
			"network": func(c *provider.Config, _ *provider.MachineSpec) { c.Spec.Harvester.NetworkName = "unheard-of" },
		},
		Refused: map[string]Change{
			"networkData": func(_ *provider.Config, s *provider.MachineSpec) { s.NetworkData = "version: 2" },
		},
		Patience: 2 * time.Second, Interval: 5 * time.Millisecond, Prompt: time.Second,
	}, p
}

// operator is the far side of the in-memory platform.
type operator struct{ p *inmemory.Platform }

func (b *operator) Inspect(_ context.Context, name string) (View, error) {
	var s View
	for _, m := range b.p.Sightings(name) {
		s.Parts = append(s.Parts, "disk of "+name)
		if m.State != provider.StatePartial {
			for i := range m.Spec.ExtraDisks {
				s.Parts = append(s.Parts, fmt.Sprintf("disk %d of %s", i+1, name))
			}
			s.Machines = append(s.Machines, seen(m))
		}
	}
	return s, nil
}

func seen(m inmemory.Sighting) MachineState {
	s := MachineState{
		ID: m.ID, Owner: m.Ref.Owner.ID, Version: string(m.State), CPU: m.Spec.CPU, MemoryMB: m.Spec.MemoryMB, DiskGB: m.Spec.DiskGB,
		UserData: m.Spec.UserData.Reveal(), Labels: m.Spec.Labels,
	}
	for _, d := range m.Spec.ExtraDisks {
		s.ExtraDisksGB = append(s.ExtraDisksGB, d.SizeGB)
	}
	return s
}

func (b *operator) CreateConflict(ctx context.Context, name string) error {
	b.p.CreateConflict(provider.MachineRef{Name: name})
	settle(ctx)
	return nil
}

// settle waits until nothing about a machine changes by itself any more.
func settle(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(30 * time.Millisecond):
	}
}

func (b *operator) Clone(ctx context.Context, name, as string) (func(), error) {
	if !b.p.Clone(name, as) {
		return nil, fmt.Errorf("there is no machine %q", name)
	}
	settle(ctx)
	return func() { b.p.Remove(as) }, nil
}

func (b *operator) Inject(_ context.Context, f Fault) (func(), error) {
	all := []inmemory.Op{
		inmemory.Connect, inmemory.Observe, inmemory.Create, inmemory.Delete, inmemory.List,
		inmemory.ObserveLoadBalancer, inmemory.EnsureLoadBalancer, inmemory.DeleteLoadBalancer, inmemory.ListLoadBalancers,
	}
	switch f {
	case LostResponse:
		b.p.Lose(inmemory.Create)
	case HalfDone:
		b.p.Halve()
	case HalfDoneLoadBalancer:
		b.p.HalveLoadBalancer()
	case Throttled:
		b.p.Refuse(refusal(provider.Unavailable, "Throttled"), all...)
	case Denied:
		b.p.Refuse(refusal(provider.Unauthorized, "Denied"), all...)
	case NoCapacity:
		b.p.Refuse(refusal(provider.Exhausted, "NoCapacity"), inmemory.Create, inmemory.EnsureLoadBalancer)
	case OtherPlatform:
		b.p.Replace(inmemory.New(inmemory.Options{Wire: true, LoadBalancers: true}))
	case Drained:
		b.p.Drain()
	case SlowList:
		b.p.Silence(inmemory.List)
	case Silent:
		b.p.Silence(all...)
	case CreateFailsLate:
		b.p.FailLate(inmemory.Create)
	case DeleteFailsLate:
		b.p.FailLate(inmemory.Delete)
	default:
		return nil, fmt.Errorf("no such fault")
	}
	return b.p.Lift, nil
}

func refusal(k provider.Kind, reason string) error {
	return &provider.Error{Kind: k, Reason: reason, Op: "use the in-memory platform", Err: errors.New("not now"), Hint: "ask its operator"}
}

func (b *operator) Agents() []string { return slices.Sorted(maps.Keys(b.p.Agents())) }

func (b *operator) InspectBalancers(_ context.Context, name string) (BalancerView, error) {
	var s BalancerView
	for _, lb := range b.p.LoadBalancers() {
		if lb.Name != name {
			continue
		}
		one := BalancerState{Owner: lb.Owner.ID, Port: lb.Port, Ports: append([]int32{lb.Port}, lb.AdditionalPorts...), AllowedCIDRs: lb.AllowedCIDRs}
		for _, t := range lb.Targets {
			one.Targets = append(one.Targets, t.ID)
		}
		s.Balancers = append(s.Balancers, one)
	}
	return s, nil
}
