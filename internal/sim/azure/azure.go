// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package azure simulates Azure: the resource manager with compute, network and
// authorization, and the tokens of Entra ID, on the machines of a simulated datacenter.
// docs/contributing/sim-azure.md says what is simulated how, and what is refused.
package azure

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

// Azure is a simulated subscription. Its API is safe for concurrent use.
type Azure struct {
	options facade.Options
	seed    Seed
	// hosts reports whether machines can run: those of the datacenter belong to the first
	// platform.
	hosts  bool
	kinds  map[string]*kind // by lower-case type
	sizes  []size
	key    []byte // signs tokens
	actors []*actor

	// home is the tenant of the subscription, if it is not that of its users.
	home string

	front, admin, plain *front.Server

	ctx    context.Context
	cancel context.CancelFunc
	ended  chan struct{}
	once   sync.Once

	mu     *sync.Mutex // the second platform has the lock of the first
	st     *state
	past   map[time.Time]*state
	second *Azure // nil: no fault plan has had one
}

func newAzure(o facade.Options, seed Seed, hosts bool) (*Azure, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	a := &Azure{
		options: o, seed: seed.withDefaults(), hosts: hosts, kinds: kinds(), sizes: catalogue(),
		ended: make(chan struct{}), mu: &sync.Mutex{}, past: map[time.Time]*state{},
	}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	var err error
	if a.st, err = openState(filepath.Join(o.Dir, "state"), o.Log); err != nil {
		return nil, err
	}
	return a, a.install()
}

func start(ctx context.Context, o facade.Options) (facade.API, error) {
	seed, err := readSeed(o.Seed)
	if err != nil {
		return nil, err
	}
	a, err := newAzure(o, seed, true)
	if err != nil {
		return nil, fmt.Errorf("start simulated Azure: %w", err)
	}
	if err := a.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start simulated Azure: %w", err), a.Stop())
	}
	return a, nil
}

// open serves the API.
func (a *Azure) open(ctx context.Context) error {
	if err := a.openFronts(); err != nil {
		return err
	}
	a.resume()
	go a.follow()
	go a.followPlans()
	if err := (conflict.Machines{
		Faults: a.options.Faults, Done: a.ctx.Done(), Log: a.options.Log, Create: a.createConflict,
	}).Start(ctx); err != nil {
		return err
	}
	if err := a.Prepare(ctx, a.options.Faults.Plan()); err != nil {
		return err
	}
	if err := a.writeCredentials(); err != nil {
		return err
	}
	a.route()
	a.options.Faults.Begin()
	return nil
}

// Wait implements facade.API.
func (a *Azure) Wait() error {
	<-a.ended
	return nil
}

// Stop implements facade.API.
func (a *Azure) Stop() (err error) {
	a.once.Do(func() {
		a.cancel()
		err = errors.Join(a.front.Close(), a.admin.Close(), a.plain.Close())
		close(a.ended)
	})
	return err
}

// later does something under the lock after a time, unless the platform has ended.
func (a *Azure) later(d time.Duration, do func()) {
	go func() {
		select {
		case <-a.ctx.Done():
			return
		case <-time.After(d):
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.ctx.Err() == nil {
			do()
		}
	}()
}
