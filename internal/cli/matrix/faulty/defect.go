// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"

	"github.com/google/uuid"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// The defects of a driver, each of which breaks one rule.
const (
	twin       = "twin"       // each machine is made twice, the second with an owner of its own
	double     = "double"     // each machine is made twice, with one owner
	oneAddress = "oneaddress" // all machines have the same address
	restless   = "restless"   // local controllers keep writing after the switch, and those of the cluster write too
	keepPart   = "keeppart"   // disks and load balancers stay, and are not reported
	leak       = "leak"       // the log has the credentials
	expose     = "expose"     // user data that is no configuration has a private key
	credulous  = "credulous"  // whatever platform answers is the right one
	stubborn   = "stubborn"   // the first error is the answer to everything from then on
)

// spoil gives a provider the defects that were ordered.
func (o orders) spoil(p provider.Provider, m *memory) provider.Provider {
	connect := p.Connect
	p.Connect = func(ctx context.Context, c provider.Config) (provider.Platform, error) {
		if o.has(leak) {
			slog.Default().Info("connecting", "with", string(c.Credentials.Get(secretKeys()...)))
		}
		platform, err := connect(ctx, c)
		if o.has(credulous) {
			platform.Identity, platform.Identify = "", nil
		}
		if err == nil {
			driver := machines{platform.Machines, platform.Plan, o, m}
			platform.Machines, platform.ObserveAll = driver, driver.observing(platform.ObserveAll)
		}
		if o.has(keepPart) && platform.LoadBalancers != nil {
			platform.LoadBalancers = balancers{platform.LoadBalancers, m}
		}
		return platform, err
	}
	return p
}

// secretKeys are those of Secrets whose values must not be logged.
func secretKeys() []string {
	return []string{v1alpha1.KeyKubeconfig, v1alpha1.KeySecretAccessKey, v1alpha1.KeyServiceAccountKey, v1alpha1.KeyClientSecret, v1alpha1.KeyTokenSecret, v1alpha1.KeyPassword}
}

// memory is what no driver should have.
type memory struct {
	mu      sync.Mutex
	first   error           // the first one ever
	deleted map[string]bool // owners of what was to be deleted
	write   func()          // makes a machine and deletes it
}

// machines are those of a driver with defects.
type machines struct {
	provider.Machines
	plan   func(context.Context, provider.MachineSpec, provider.Attempt) (string, error)
	orders orders
	memory *memory
}

// Create makes mistakes.
func (m machines) Create(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
	if m.orders.has(oneAddress) {
		s.NetworkData = "version: 2\nethernets:\n  eth0:\n    addresses: [10.40.0.77/24]\n"
	}
	if m.orders.has(expose) {
		s.UserData = "#cloud-config\n# -----BEGIN PRIVATE KEY-----\n"
	}
	second := make(chan error, 1)
	go func() { second <- m.createSecond(ctx, s) }()
	one, err := m.Machines.Create(ctx, s)
	return one, m.memory.insist(m.orders, errors.Join(err, <-second))
}

// createSecond creates another machine for the request, if that was ordered: at the same
// time, and as a further attempt, since drivers look before they create, and platforms
// recognise a call that is repeated.
func (m machines) createSecond(ctx context.Context, s provider.MachineSpec) (err error) {
	if !m.orders.has(twin) && !m.orders.has(double) {
		return nil
	}
	s.Name += "-second"
	if m.orders.has(twin) {
		s.Owner.ID = uuid.NewSHA1(uuid.Nil, []byte(s.Owner.ID)).String()
	}
	if m.plan != nil {
		full := provider.Exhausted.New("", provider.ReasonCapacityExhausted, nil, "")
		if s.Attempt, err = m.plan(ctx, s, provider.Attempt{Record: s.Attempt, Refused: full}); err != nil {
			return err
		}
	}
	_, err = m.Machines.Create(ctx, s)
	return err
}

// insist remembers the first error, if that was ordered.
func (m *memory) insist(o orders, err error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !o.has(stubborn) {
		return err
	}
	if m.first == nil {
		m.first = err
	}
	return m.first
}

// Observe reports no disk that Delete has left.
func (m machines) Observe(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	if m.orders.has(restless) {
		m.learn(ref)
	}
	one, err := m.Machines.Observe(ctx, ref)
	if err == nil && m.memory.left(one) {
		one = provider.Machine{Ref: ref, State: provider.StateAbsent}
	}
	return one, m.memory.insist(m.orders, err)
}

// observing learns from what many machines are observed with, where there is that.
func (m machines) observing(all func(context.Context) ([]provider.Machine, error)) func(context.Context) ([]provider.Machine, error) {
	if all == nil || !m.orders.has(restless) {
		return all
	}
	return func(ctx context.Context) ([]provider.Machine, error) {
		found, err := all(ctx)
		for _, one := range found {
			m.learn(one.Ref)
		}
		return found, err
	}
}

// Delete deletes the machine, and with keepPart nothing that is left without it.
func (m machines) Delete(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	if m.orders.has(keepPart) {
		m.memory.remember(ref.Owner)
		if one, err := m.Machines.Observe(ctx, ref); err != nil || m.memory.left(one) {
			return provider.Machine{Ref: ref, State: provider.StateAbsent}, err
		}
	}
	return m.Machines.Delete(ctx, ref)
}

// List reports no disk that Delete has left.
func (m machines) List(ctx context.Context, owner provider.Owner) (out []provider.Machine, err error) {
	all, err := m.Machines.List(ctx, owner)
	for _, one := range all {
		if !m.memory.left(one) {
			out = append(out, one)
		}
	}
	return out, err
}

func (m *memory) remember(owner provider.Owner) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.deleted == nil {
		m.deleted = map[string]bool{}
	}
	m.deleted[owner.ID] = true
}

// left says whether all that is there of a machine is what Delete has left.
func (m *memory) left(one provider.Machine) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return one.State == provider.StatePartial && m.deleted[one.Ref.Owner.ID]
}

// talosVersion is that of the manifests, for platforms that look the image up.
const talosVersion = "v1.9.2"

// learn has the process know how to write. In a pod of the cluster it begins to at
// once.
func (m machines) learn(ref provider.MachineRef) {
	m.memory.mu.Lock()
	defer m.memory.mu.Unlock()
	if m.memory.write != nil || ref.Owner.ClusterID == "" {
		return
	}
	// Another name than that of the other writer, as a platform may refuse one that is in use.
	ref.Owner.ID = uuid.NewString()
	ref.Name = "probe-" + ref.Owner.ID[:8]
	m.memory.write = func() {
		// What comes of it does not matter: a call counts when it arrives.
		_, _ = m.Machines.Create(context.Background(), provider.MachineSpec{MachineRef: ref, CPU: 1, MemoryMB: 1024, DiskGB: 50, TalosVersion: talosVersion})
		_, _ = m.Machines.Delete(context.Background(), ref)
	}
	if os.Args[1] == "controller" {
		go m.memory.writeOn(context.Background())
	}
}

// writeOn writes as if the controllers had not been ended.
func (m *memory) writeOn(ctx context.Context) {
	m.mu.Lock()
	write := m.write
	m.mu.Unlock()
	for write != nil && ctx.Err() == nil {
		write()
	}
}

// balancers are those of a driver that keeps them.
type balancers struct {
	provider.LoadBalancers
	memory *memory
}

// Delete deletes nothing.
func (b balancers) Delete(_ context.Context, ref provider.LoadBalancerRef) error {
	b.memory.remember(ref.Owner)
	return nil
}

// Observe reports no load balancer that Delete has left.
func (b balancers) Observe(ctx context.Context, ref provider.LoadBalancerRef) (provider.LoadBalancer, error) {
	if b.memory.kept(ref.Owner) {
		return provider.LoadBalancer{Ref: ref, State: provider.StateAbsent, Certain: true}, nil
	}
	return b.LoadBalancers.Observe(ctx, ref)
}

// List reports no load balancer that Delete has left.
func (b balancers) List(ctx context.Context, owner provider.Owner) (out []provider.LoadBalancer, err error) {
	all, err := b.LoadBalancers.List(ctx, owner)
	for _, one := range all {
		if !b.memory.kept(one.Ref.Owner) {
			out = append(out, one)
		}
	}
	return out, err
}

// kept reports whether what the owner has was to be deleted.
func (m *memory) kept(owner provider.Owner) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.deleted[owner.ID]
}
