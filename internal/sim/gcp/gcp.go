// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package gcp simulates Google Cloud: Compute Engine, the token endpoints, and the resource
// manager's view of a project, on the machines of a simulated datacenter.
// docs/contributing/sim-gcp.md says what is simulated how, and what is refused.
package gcp

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
	"github.com/butlerdotdev/butler/internal/sim/gcp/model"
)

// GCP is a simulated project. Its API is safe for concurrent use.
type GCP struct {
	options facade.Options
	seed    Seed
	number  string // of the project
	// hosts reports whether machines can run: those of the datacenter belong to the first
	// platform.
	hosts      bool
	model      *model.Model
	types      map[string]machineType
	methods    map[string]method
	operations *datacenter.Operations

	front, admin, plain *front.Server

	ctx    context.Context
	cancel context.CancelFunc
	ended  chan struct{}
	once   sync.Once

	mu     *sync.Mutex // the second platform has the lock of the first
	st     *state
	past   map[time.Time]*state
	second *GCP // nil: no fault plan has had one
}

// numbers of the project, and of the one that answers in its place.
const (
	firstNumber  = "415104041262"
	secondNumber = "730925514683"
)

func newGCP(o facade.Options, seed Seed, number string, hosts bool) (*GCP, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	g := &GCP{
		options: o, seed: seed.withDefaults(), number: number, hosts: hosts, model: model.Load(), types: predefined(), methods: methods(),
		ended: make(chan struct{}), mu: &sync.Mutex{}, past: map[time.Time]*state{},
	}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	var err error
	if g.st, err = openState(filepath.Join(o.Dir, "state"), o.Log); err != nil {
		return nil, err
	}
	return g, g.install()
}

func start(ctx context.Context, o facade.Options) (facade.API, error) {
	seed, err := readSeed(o.Seed)
	if err != nil {
		return nil, err
	}
	g, err := newGCP(o, seed, firstNumber, true)
	if err != nil {
		return nil, fmt.Errorf("start simulated Google Cloud: %w", err)
	}
	if err := g.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start simulated Google Cloud: %w", err), g.Stop())
	}
	return g, nil
}

// open serves the API.
func (g *GCP) open(ctx context.Context) error {
	if err := g.openFronts(); err != nil {
		return err
	}
	if err := g.openOperations(g.file("operations")); err != nil {
		return err
	}
	g.resume()
	go g.follow()
	go g.followPlans()
	if err := (conflict.Machines{
		Faults: g.options.Faults, Done: g.ctx.Done(), Log: g.options.Log, Create: g.createConflict,
	}).Start(ctx); err != nil {
		return err
	}
	if err := g.Prepare(ctx, g.options.Faults.Plan()); err != nil {
		return err
	}
	if err := g.writeCredentials(); err != nil {
		return err
	}
	g.route()
	g.options.Faults.Begin()
	return nil
}

// Wait implements facade.API.
func (g *GCP) Wait() error {
	<-g.ended
	return nil
}

// Stop implements facade.API.
func (g *GCP) Stop() (err error) {
	g.once.Do(func() {
		g.cancel()
		err = errors.Join(g.front.Close(), g.admin.Close(), g.plain.Close())
		if g.operations != nil {
			g.operations.Close()
		}
		close(g.ended)
	})
	return err
}

// later does something under the lock after a time, unless the platform has ended.
func (g *GCP) later(d time.Duration, do func()) {
	go func() {
		select {
		case <-g.ctx.Done():
			return
		case <-time.After(d):
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.ctx.Err() == nil {
			do()
		}
	}()
}
