// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package nutanix simulates Nutanix: API v3 of a Prism Central with its clusters, on the
// machines of a simulated datacenter.
// docs/contributing/sim-nutanix.md says what is simulated how, and what is refused.
package nutanix

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
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/front"
	"github.com/butlerdotdev/butler/internal/sim/nutanix/model"
)

// Prism is a simulated Prism Central. Its API is safe for concurrent use.
type Prism struct {
	options facade.Options
	seed    Seed
	// machines reports whether machines can run: those of the datacenter belong to the first
	// platform.
	machines bool
	model    *model.Model
	routes   []route
	tasks    *datacenter.Operations

	front, admin *front.Server

	ctx    context.Context
	cancel context.CancelFunc
	ended  chan struct{}
	once   sync.Once

	mu       *sync.Mutex // the second platform has the lock of the first
	st       *state
	sessions map[string]session
	past     map[time.Time]*state
	second   *Prism // nil: no fault plan has had one
}

func newPrism(o facade.Options, seed Seed, machines bool) (*Prism, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	p := &Prism{
		options: o, seed: seed.withDefaults(), machines: machines, model: model.Load(), routes: routes(), ended: make(chan struct{}),
		mu: &sync.Mutex{}, sessions: map[string]session{}, past: map[time.Time]*state{},
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
	p, err := newPrism(o, seed, true)
	if err != nil {
		return nil, fmt.Errorf("start simulated Nutanix: %w", err)
	}
	if err := p.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start simulated Nutanix: %w", err), p.Stop())
	}
	return p, nil
}

// open serves the API.
func (p *Prism) open(ctx context.Context) error {
	if err := errors.Join(p.openFronts(), p.openTasks(p.file("tasks"))); err != nil {
		return err
	}
	p.resume()
	go p.follow()
	go p.followPlans()
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
	p.front.Route(defaultPort)
	p.options.Faults.Begin()
	return nil
}

// Wait implements facade.API.
func (p *Prism) Wait() error {
	<-p.ended
	return nil
}

// Stop implements facade.API.
func (p *Prism) Stop() (err error) {
	p.once.Do(func() {
		p.cancel()
		err = errors.Join(p.front.Close(), p.admin.Close())
		if p.tasks != nil {
			p.tasks.Close()
		}
		p.mu.Lock() // what is being done under the lock has ended then
		defer p.mu.Unlock()
		close(p.ended)
	})
	return err
}

// later does something under the lock after a time, unless the platform has ended.
func (p *Prism) later(d time.Duration, do func()) {
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
