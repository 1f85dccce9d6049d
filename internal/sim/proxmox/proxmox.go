// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package proxmox simulates the API of a Proxmox VE cluster on the machines of a simulated
// datacenter. docs/contributing/sim-proxmox.md says what is simulated how, and what is
// refused.
package proxmox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/conflict"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/front"
)

// PVE is a simulated cluster. Its API is safe for concurrent use.
type PVE struct {
	options facade.Options
	seed    Seed
	name    string // of the cluster
	// hosts reports whether machines can run: those of the datacenter belong to the first
	// platform.
	hosts  bool
	routes []route

	front, admin *front.Server

	ctx    context.Context
	cancel context.CancelFunc
	ended  chan struct{}
	once   sync.Once
	tasks  sync.WaitGroup // workers that run

	mu   *sync.Mutex // the second platform has the lock of the first
	st   *state
	pids int // of the last task
	// allowed are permissions that were found.
	allowed map[string]map[string]bool
	// staged are uploaded files that are not on their storage yet.
	staged map[string]*volume
	past   map[time.Time]*state
	second *PVE // nil: no fault plan has had one
}

// names of the cluster, and of the one that answers in its place.
const (
	firstCluster  = "butler-lab"
	secondCluster = "other-lab"
)

func newPVE(o facade.Options, seed Seed, name string, hosts bool) (*PVE, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	p := &PVE{
		options: o, seed: seed.withDefaults(), name: name, hosts: hosts, routes: routes(),
		ended: make(chan struct{}), mu: &sync.Mutex{}, past: map[time.Time]*state{}, pids: firstPID, staged: map[string]*volume{}, allowed: map[string]map[string]bool{},
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	var err error
	if p.st, err = openState(filepath.Join(o.Dir, "state"), o.Log); err != nil {
		return nil, err
	}
	return p, p.install()
}

func start(ctx context.Context, o facade.Options) (facade.API, error) {
	seed, err := readSeed(o.Seed)
	if err != nil {
		return nil, err
	}
	p, err := newPVE(o, seed, firstCluster, true)
	if err != nil {
		return nil, fmt.Errorf("start simulated Proxmox VE: %w", err)
	}
	if err := p.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start simulated Proxmox VE: %w", err), p.Stop())
	}
	return p, nil
}

// open serves the API.
func (p *PVE) open(ctx context.Context) error {
	if err := p.openFronts(); err != nil {
		return err
	}
	p.resume()
	go p.follow()
	go p.followPlans()
	go p.watchStatus()
	if err := (conflict.Machines{
		Faults: p.options.Faults, Done: p.ctx.Done(), Log: p.options.Log, Create: p.createConflict,
	}).Start(ctx); err != nil {
		return err
	}
	if err := p.Prepare(ctx, p.options.Faults.Plan()); err != nil {
		return err
	}
	if err := p.writeCredentials(); err != nil {
		return err
	}
	p.front.Route("8006")
	p.options.Faults.Begin()
	return nil
}

// Wait implements facade.API.
func (p *PVE) Wait() error {
	<-p.ended
	return nil
}

// Stop implements facade.API.
func (p *PVE) Stop() (err error) {
	p.once.Do(func() {
		p.cancel()
		err = errors.Join(p.front.Close(), p.admin.Close())
		p.tasks.Wait()
		p.mu.Lock() // what is being done under the lock has ended then
		defer p.mu.Unlock()
		close(p.ended)
	})
	return err
}

// later does something under the lock after a time, unless the platform has ended.
func (p *PVE) later(d time.Duration, do func()) {
	go func() {
		select {
		case <-p.ctx.Done():
			return
		case <-time.After(d):
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.ctx.Err() == nil {
			do()
		}
	}()
}
