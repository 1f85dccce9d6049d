// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package cloud is what the simulated platforms with an API of their own have in common:
// fronts for users and for the administrator, a lock, what faults need (the past, a second
// platform, machines that are copied, drained or in conflict), and how machines are
// switched off and restarted. A platform embeds a Base and supplies its Behaviour.
package cloud

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/sim/conflict"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/front"
	"github.com/butlerdotdev/butler/provider/tag"
)

// Behaviour is what a platform does in its own way. Functions are called under the lock of
// the platform unless they say otherwise. Plain, Port and HTTP1 may be empty; the rest is
// required.
type Behaviour struct {
	// Serve answers a call that no fault has answered. It is called without the lock.
	Serve http.HandlerFunc
	// Snapshot returns what answers a call, under the lock, as the platform is now.
	Snapshot func() http.HandlerFunc
	// Second starts the platform that answers in place of this one: it has what the seed
	// names and the same credentials, and nothing can run on it.
	Second func(facade.Options) (http.Handler, error)
	// API has Classify, Refuse and Pretend, which are called without the lock.
	API     fault.API
	Tags    func(body []byte) tag.Set    // see front.Options
	Content func(body []byte) []byte     // see front.Options
	Hosts   []string                     // names of the API with TLS
	Plain   []string                     // names of the API without TLS
	Port    string                       // of the API with TLS; empty: 443
	HTTP1   bool                         // see front.Options
	Files   func() map[string][]byte     // files of the users, by name
	Resume  func()                       // continues after a restart of the simulator
	Died    func(string, datacenter.Run) // reacts to a machine that ended by itself
	Running func() []Machine             // the machines that run
	// Conflict creates a machine of a name that is off and has no owner, and returns how it
	// is removed; nil: the name is taken.
	Conflict func(name string) (remove func(), err error)
}

// Base is the common part of a simulated platform. It is locked while a call is carried
// out.
type Base struct {
	sync.Locker // the second platform has that of the first

	Options facade.Options
	// Hosts reports whether machines can run: those of the datacenter belong to the first
	// platform.
	Hosts bool

	behaviour           Behaviour
	front, admin, plain *front.Server
	ctx                 context.Context
	cancel              context.CancelFunc
	ended               chan struct{}
	once                sync.Once
	past                map[time.Time]http.HandlerFunc
	second              http.Handler // nil: no fault plan has had one
}

// New returns the base of a platform whose directory exists. Nothing is served yet.
func New(o facade.Options, hosts bool, b Behaviour) (*Base, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	base := &Base{Locker: &sync.Mutex{}, Options: o, Hosts: hosts, behaviour: b, ended: make(chan struct{}), past: map[time.Time]http.HandlerFunc{}}
	base.ctx, base.cancel = context.WithCancel(context.Background())
	return base, os.MkdirAll(o.Dir, 0o700)
}

// Join makes the second platform share the lock and the addresses of the first, and end with
// it.
func (b *Base) Join(first *Base) {
	b.Locker, b.front, b.admin = first.Locker, first.front, first.admin
	b.cancel()
	b.ctx, b.cancel = first.ctx, first.cancel
}

// Open serves the API and returns when it can be used.
func (b *Base) Open(ctx context.Context) error {
	if err := b.serve(); err != nil {
		return err
	}
	b.Do(b.behaviour.Resume)
	go b.follow()
	go b.followPlans()
	conflicts := conflict.Machines{Faults: b.Options.Faults, Done: b.ctx.Done(), Log: b.Options.Log, Create: b.createConflict}
	if err := conflicts.Start(ctx); err != nil {
		return err
	}
	if err := b.Prepare(ctx, b.Options.Faults.Plan()); err != nil {
		return err
	}
	if err := b.writeFiles(); err != nil {
		return err
	}
	b.front.Route(cmp.Or(b.behaviour.Port, "443"))
	if b.plain != nil {
		b.plain.Route("80")
	}
	b.Options.Faults.Begin()
	return nil
}

// writeFiles writes the credentials of the users.
func (b *Base) writeFiles() (err error) {
	for name, content := range b.behaviour.Files() {
		err = errors.Join(err, plane.WriteFile(b.File(name), content))
	}
	return err
}

// File returns the path of a file of the platform.
func (b *Base) File(name string) string { return filepath.Join(b.Options.Dir, name) }

// Wait implements facade.API.
func (b *Base) Wait() error {
	<-b.ended
	return nil
}

// Stop implements facade.API. Nothing is written after it: what is being done under the
// lock has ended.
func (b *Base) Stop() (err error) {
	b.once.Do(func() {
		b.cancel()
		err = errors.Join(b.front.Close(), b.admin.Close(), b.plain.Close())
		b.Do(func() {})
		close(b.ended)
	})
	return err
}

// Do does something under the lock, unless the platform has ended.
func (b *Base) Do(do func()) {
	b.Lock()
	defer b.Unlock()
	if b.ctx.Err() == nil {
		do()
	}
}

// Later does something under the lock after a time, unless the platform has ended.
func (b *Base) Later(d time.Duration, do func()) {
	go func() {
		if b.Sleep(d) {
			b.Do(do)
		}
	}()
}

// Sleep reports false if the platform ends before the time is over. It is called without
// the lock.
func (b *Base) Sleep(d time.Duration) bool {
	select {
	case <-b.ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
