// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package talos emulates machines that boot Talos. A node serves the real gRPC
// services at port 50000 of its address: without configuration in maintenance
// mode, then with mutual TLS from the configuration that was pushed. Nodes of
// one cluster id form one Kubernetes cluster with a real API server.
package talos

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/siderolabs/talos/pkg/machinery/config"

	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/hosted"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// Options are the environment of the nodes.
type Options struct {
	Executable string           // has the components of a control plane, see plane.Options
	Network    *network.Network // where shared addresses of control planes appear
	Log        *slog.Logger     // nil: nothing is logged
	Dir        string           // the clusters' data
	Profile    datacenter.Profile
	Faults     *fault.Injector
	Auditor    *audit.Auditor // gets each etcd that is bootstrapped; nil: none
	// Controllers returns the command that runs a controller of this project, followed
	// by its name and its arguments. It reaches the network through the SOCKS5 server at
	// proxy, which is that of its node. Without it their pods run nothing.
	Controllers func(proxy string) []string
}

// Emulator runs emulated nodes on machines, and holds the clusters that they form.
type Emulator struct {
	options  Options
	mu       sync.Mutex
	clusters map[string]*formation         // by cluster id of the configuration
	machines map[string]datacenter.Machine // those that are on, by ID
}

// New returns an emulator without nodes.
func New(o Options) *Emulator {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Emulator{options: o, clusters: map[string]*formation{}, machines: map[string]datacenter.Machine{}}
}

var (
	errRestart  = errors.New("the node restarts")
	errShutdown = fmt.Errorf("the node was shut down: %w", datacenter.ErrShutdown)
	errReset    = errors.New("the node is reset") // joined with one of the others
)

// Boot runs a node while its machine is powered on; it is a datacenter.Boot. A
// configuration on the machine's disk, or else in its user data, is used at
// once; otherwise the node waits for one in maintenance mode.
func (e *Emulator) Boot(ctx context.Context, m datacenter.Machine) error {
	d := disk{m.StateDir}
	defer e.forget(m)
	for {
		err := e.bootOnce(ctx, m, d)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !errors.Is(err, errRestart) {
			return fmt.Errorf("machine %s: %w", m.Name, err)
		}
	}
}

// configure gives the machine the addresses of a configuration, nil for none, and records
// that it is on.
func (e *Emulator) configure(m datacenter.Machine, cfg config.Provider) (datacenter.Machine, error) {
	m, err := m.Configure(interfaceOf(m, cfg))
	if err != nil && !errors.Is(err, datacenter.ErrExhausted) { // no server has a lease
		return m, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.machines[m.ID] = m
	return m, nil
}

func (e *Emulator) forget(m datacenter.Machine) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.machines, m.ID)
}

// Removed records that a machine's disk is gone: with that of its last member a
// cluster's data go too.
func (e *Emulator) Removed(string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	known := map[string]bool{}
	for _, f := range e.clusters {
		known[f.dir] = true
		f.clean()
	}
	e.sweepOthers(known)
}

// sweepOthers looks at clusters of which no node was on since the emulator was started.
func (e *Emulator) sweepOthers(known map[string]bool) {
	entries, _ := os.ReadDir(e.options.Dir) // without it there are none
	for _, entry := range entries {
		dir := filepath.Join(e.options.Dir, entry.Name())
		if known[dir] {
			continue
		}
		if _, err := openFormation(dir, e.options.Log); err != nil {
			e.options.Log.Warn("data of a cluster stay", "dir", dir, "error", err)
		}
	}
}

func (e *Emulator) bootOnce(ctx context.Context, m datacenter.Machine, d disk) error {
	cfg, err := d.config()
	if err != nil {
		return err
	}
	log := e.options.Log.With("machine", m.Name)
	if m, err = e.configure(m, cfg); err != nil {
		return err
	}
	if cfg == nil {
		return start(ctx, m, d, log)
	}
	n, err := e.node(m, d, cfg, log)
	if err != nil {
		return err
	}
	err = n.run(ctx)
	if errors.Is(err, errReset) {
		log.Info("talos wipes its disk")
		err = errors.Join(err, d.wipe())
		e.Removed(m.ID)
	}
	return err
}

// start is a node without a configuration on its disk: it takes that of its user data, or
// waits for one.
func start(ctx context.Context, m datacenter.Machine, d disk, log *slog.Logger) error {
	taken, err := takeUserData(ctx, m, d, log)
	switch {
	case err != nil:
		return err
	case taken:
		return errRestart
	}
	return runMaintenance(ctx, m, d, log)
}

func (e *Emulator) node(m datacenter.Machine, d disk, cfg config.Provider, log *slog.Logger) (*node, error) {
	formation, err := e.cluster(cfg.Cluster().ID(), cfg.Cluster().Name())
	if err != nil {
		return nil, err
	}
	return &node{
		emulator: e, machine: m, disk: d, config: cfg, log: log,
		cluster:   formation,
		ready:     make(chan struct{}),
		bootstrap: make(chan struct{}, 1),
	}, nil
}

func (e *Emulator) cluster(id, name string) (*formation, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if f := e.clusters[id]; f != nil {
		return f, nil
	}
	if e.options.Dir == "" {
		return nil, errors.New("the emulated nodes have no directory for their clusters")
	}
	sum := sha256.Sum256([]byte(id))
	f, err := openFormation(filepath.Join(e.options.Dir, hex.EncodeToString(sum[:8])), e.options.Log.With("cluster", name))
	if err == nil {
		f.faults, f.services.Faults = e.options.Faults, e.options.Faults
		f.tenants = hosted.New(hosted.Options{
			Dir: filepath.Join(f.dir, "tenants"), Executable: e.options.Executable, Network: e.options.Network,
			Faults: e.options.Faults, Inside: f.services.HasNode, Log: e.options.Log,
		})
		e.clusters[id] = f
	}
	return f, err
}
