// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
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
	keepDisk   = "keepdisk"   // disks stay, and are not spoken of
	leak       = "leak"       // the log has the credentials
	expose     = "expose"     // user data has a private key
	credulous  = "credulous"  // whatever platform answers is the right one
	stubborn   = "stubborn"   // the first error is the answer to everything from then on
)

// spoil gives a provider the defects that were ordered.
func (o orders) spoil(p provider.Provider, m *memory) provider.Provider {
	connect := p.Connect
	p.Connect = func(ctx context.Context, c provider.Config) (provider.Platform, error) {
		if o.has(leak) {
			slog.Default().Info("connecting", "with", string(c.Credentials.Get(v1alpha1.KeyKubeconfig)))
		}
		platform, err := connect(ctx, c)
		if o.has(credulous) {
			platform.Identity, platform.Identify = "", nil
		}
		if err == nil {
			platform.Machines = machines{platform.Machines, o, m}
		}
		return platform, err
	}
	return p
}

// memory is what no driver should have.
type memory struct {
	mu      sync.Mutex
	first   error           // the first one ever
	deleted map[string]bool // owners whose machines were to be deleted
	write   func()          // makes a machine and deletes it
}

// machines are those of a driver with defects.
type machines struct {
	provider.Machines
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
	if m.orders.has(twin) || m.orders.has(double) {
		second := s
		second.Name += "-second"
		if m.orders.has(twin) {
			second.Owner.ID = uuid.NewSHA1(uuid.Nil, []byte(s.Owner.ID)).String()
		}
		if one, err := m.Machines.Create(ctx, second); err != nil {
			return one, err
		}
	}
	one, err := m.Machines.Create(ctx, s)
	return one, m.memory.insist(m.orders, err)
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

// Observe speaks of no disk that Delete has left.
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

// Delete deletes the machine, and with keepDisk nothing that is left without it.
func (m machines) Delete(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	if m.orders.has(keepDisk) {
		m.memory.remember(ref)
		if one, err := m.Machines.Observe(ctx, ref); err != nil || m.memory.left(one) {
			return provider.Machine{Ref: ref, State: provider.StateAbsent}, err
		}
	}
	return m.Machines.Delete(ctx, ref)
}

// List speaks of no disk that Delete has left.
func (m machines) List(ctx context.Context, owner provider.Owner) (out []provider.Machine, err error) {
	all, err := m.Machines.List(ctx, owner)
	for _, one := range all {
		if !m.memory.left(one) {
			out = append(out, one)
		}
	}
	return out, err
}

func (m *memory) remember(ref provider.MachineRef) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.deleted == nil {
		m.deleted = map[string]bool{}
	}
	m.deleted[ref.Owner.ID] = true
}

// left says whether all that is there of a machine is what Delete has left.
func (m *memory) left(one provider.Machine) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return one.State == provider.StatePartial && m.deleted[one.Ref.Owner.ID]
}

// learn has the process know how to write. In a pod of the cluster it begins to at
// once.
func (m machines) learn(ref provider.MachineRef) {
	m.memory.mu.Lock()
	defer m.memory.mu.Unlock()
	if m.memory.write != nil || ref.Owner.ClusterID == "" {
		return
	}
	ref.Name += "-probe"
	ref.Owner.ID = uuid.NewString()
	m.memory.write = func() {
		// What comes of it does not matter: a call counts when it arrives.
		_, _ = m.Machines.Create(context.Background(), provider.MachineSpec{MachineRef: ref, CPU: 1, MemoryMB: 1024, DiskGB: 10})
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
