// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"

	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/sim/cluster"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/hosted"
)

// formation is what the nodes of one cluster share. Its data belong to the members
// of etcd together: they are there while a quorum of them is on, whichever they are.
type formation struct {
	dir   string
	log   *slog.Logger
	start func(context.Context) (*plane.Plane, error)

	faults   *fault.Injector
	services *cluster.Services
	tenants  *hosted.Host
	ranges   sync.Mutex // held to give a node its pod addresses

	mu       sync.Mutex
	changed  chan struct{}    // closed, and replaced, with each change
	nodes    map[*node]bool   // control planes that are on
	members  []member         // of etcd
	running  map[uint64]*node // members whose etcd runs
	plane    *plane.Plane
	kept     bool                 // a keeper runs the plane, see keep
	active   bool                 // a plane runs, starts or stops
	restarts int                  // how often a plane that started had to begin again
	open     map[*node]string     // where the API servers of nodes that answer are
	healthy  map[*node]bool       // control planes whose etcd is
	shared   map[netip.Addr]*node // who holds the shared IPs
}

func openFormation(dir string, log *slog.Logger) (*formation, error) {
	f := &formation{
		dir: dir, log: log, changed: make(chan struct{}),
		nodes: map[*node]bool{}, running: map[uint64]*node{}, open: map[*node]string{},
		healthy: map[*node]bool{}, shared: map[netip.Addr]*node{},
		services: &cluster.Services{Log: log},
	}
	f.start = func(ctx context.Context) (*plane.Plane, error) { return cluster.Start(ctx, f.controlPlane()) }
	return f, f.load()
}

func (f *formation) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.changed)
	f.changed = make(chan struct{})
}

// await returns once done, which it calls under lock, says so, and ctx has not ended.
func (f *formation) await(ctx context.Context, done func() bool) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		f.mu.Lock()
		ok, changed := done(), f.changed
		f.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// appear makes a control plane known that is on; disappear ends that.
func (f *formation) appear(n *node)    { f.change(func() { f.nodes[n] = true }) }
func (f *formation) disappear(n *node) { f.change(func() { delete(f.nodes, n) }) }

// awaitTrust waits for a control plane that signs a worker's certificate, as
// trustd does.
func (f *formation) awaitTrust(ctx context.Context) (ca pki.CA, err error) {
	err = f.await(ctx, func() bool {
		for n := range f.nodes {
			ca = n.talosCA()
			return true
		}
		return false
	})
	return ca, err
}

// awaitPlane waits until an API server runs that is not the one before, and a keeper
// can reach it.
func (f *formation) awaitPlane(ctx context.Context, before *plane.Plane) (p *plane.Plane, err error) {
	err = f.await(ctx, func() bool { p = f.plane; return p != nil && p != before && len(f.open) > 0 })
	return p, err
}

// awaitEtcd waits until etcd answers, with another API server than the one before.
func (f *formation) awaitEtcd(ctx context.Context, before *plane.Plane) (p *plane.Plane, err error) {
	err = f.await(ctx, func() bool { p = f.plane; return p != nil && p != before })
	return p, err
}

// awaitMember waits until the etcd of a control plane runs.
func (f *formation) awaitMember(ctx context.Context, n *node) error {
	return f.await(ctx, func() bool {
		for _, other := range f.running {
			if other == n {
				return true
			}
		}
		return false
	})
}

// setOpen says where the node's API server is; empty, if it does not answer.
func (f *formation) setOpen(n *node, target string) {
	f.change(func() {
		if target == "" {
			delete(f.open, n)
			return
		}
		f.open[n] = target
	})
}

// whileOpen runs do, again and again, while the node's own API server answers.
func (f *formation) whileOpen(ctx context.Context, n *node, do func(ctx context.Context, target string)) {
	var target string
	f.during(ctx, func() bool { return f.open[n] != "" }, func(ctx context.Context) {
		f.mu.Lock()
		target = f.open[n]
		f.mu.Unlock()
		do(ctx, target)
	})
}

// whileHealthy does the same while the node's own etcd is healthy.
func (f *formation) whileHealthy(ctx context.Context, n *node, do func(context.Context)) {
	f.during(ctx, func() bool { return f.healthy[n] }, do)
}

// during runs do whenever holds, which is called under lock, says so; the context of
// do ends when it does not any more.
func (f *formation) during(ctx context.Context, holds func() bool, do func(context.Context)) {
	for f.await(ctx, holds) == nil {
		inner, end := context.WithCancel(ctx)
		go func() {
			defer end()
			_ = f.await(inner, func() bool { return !holds() })
		}()
		do(inner)
		end()
	}
}
