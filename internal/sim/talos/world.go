// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package talos emulates machines that boot Talos. A node serves the real gRPC
// services at port 50000 of its address: without configuration in maintenance
// mode, then with mutual TLS from the configuration that was pushed. Nodes of
// one cluster id form one Kubernetes cluster with a real API server.
package talos

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/config"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// Options are the surroundings of the nodes.
type Options struct {
	Executable string           // has the components of a control plane, see plane.Options
	Network    *network.Network // where shared addresses of control planes appear
	Log        *slog.Logger     // nil: nothing is logged
	EtcdDelay  time.Duration    // from a configured start until a node can be bootstrapped
}

// World holds the clusters that its nodes form.
type World struct {
	options  Options
	mu       sync.Mutex
	clusters map[string]*formation // by cluster id of the configuration
}

// New returns a world without nodes.
func New(o Options) *World {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &World{options: o, clusters: map[string]*formation{}}
}

var (
	errRestart  = errors.New("the node restarts")
	errShutdown = errors.New("the node was shut down")
	errReset    = errors.New("the node is reset") // joined with one of the others
)

// Boot runs a node while its machine is powered on; it is a datacenter.Boot. A
// configuration on the machine's disk, or else in its user data, is used at
// once; otherwise the node waits for one in maintenance mode.
func (w *World) Boot(ctx context.Context, m datacenter.Machine) error {
	d := disk{m.StateDir}
	for {
		err := w.bootOnce(ctx, m, d)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !errors.Is(err, errRestart) {
			return fmt.Errorf("machine %s: %w", m.Name, err)
		}
	}
}

func (w *World) bootOnce(ctx context.Context, m datacenter.Machine, d disk) error {
	cfg, err := d.config()
	if err != nil {
		return err
	}
	if cfg == nil && configured(m.UserData) {
		if err := d.writeConfig(m.UserData); err != nil {
			return err
		}
		return errRestart
	}
	log := w.options.Log.With("machine", m.Name)
	if cfg == nil {
		return runMaintenance(ctx, m, d, log)
	}
	err = w.node(m, d, cfg, log).run(ctx)
	if errors.Is(err, errReset) {
		log.Info("talos wipes its disk")
		return errors.Join(err, d.wipe())
	}
	return err
}

func (w *World) node(m datacenter.Machine, d disk, cfg config.Provider, log *slog.Logger) *node {
	return &node{
		world: w, machine: m, disk: d, config: cfg, log: log,
		cluster:   w.cluster(cfg.Cluster().ID()),
		bootstrap: make(chan struct{}, 1),
	}
}

func (w *World) cluster(id string) *formation {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.clusters[id] == nil {
		w.clusters[id] = newFormation()
	}
	return w.clusters[id]
}
