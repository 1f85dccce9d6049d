// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/butlerdotdev/butler/provider"
)

const (
	// gatherFor is how long after an observation further ones wait for each other.
	gatherFor = 200 * time.Millisecond
	// listTimeout bounds one listing, which no caller's context does.
	listTimeout = 30 * time.Second
)

// coalesce lets a platform that is polled answer many Observe calls with one listing,
// if its driver offers one. What is pushed is hardly polled and stays as it is.
func coalesce(p *provider.Platform) {
	if p.Machines != nil && p.ObserveAll != nil && p.Changes == nil {
		p.Machines = &gatherer{Machines: p.Machines, all: p.ObserveAll}
	}
}

// gatherer are machines whose Observe calls share listings. A call that nothing came
// shortly before is passed on at once. Those that follow it wait for the next listing,
// which begins when gatherFor is over and the listing before it has ended: no call is
// answered by a listing that began before the call.
type gatherer struct {
	provider.Machines
	all func(context.Context) ([]provider.Machine, error)

	mu     sync.Mutex
	last   time.Time // when an observation was last begun
	next   *batch    // gathers calls; nil if none waits
	listed *batch    // the last listing, which may be under way
}

// batch are the calls that share a listing.
type batch struct {
	ctx    context.Context // ends when no caller waits any more
	cancel context.CancelFunc
	begun  bool
	calls  int
	done   chan struct{}

	// machines and err are set when done is closed; without both, the only caller
	// observes by itself.
	machines map[machineKey]provider.Machine
	err      error
}

// machineKey is what Observe finds a machine by.
type machineKey struct{ name, owner string }

func keyOf(r provider.MachineRef) machineKey { return machineKey{r.Name, r.Owner.ID} }

// Observe implements provider.Machines.
func (g *gatherer) Observe(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	b := g.join()
	if b == nil {
		return g.Machines.Observe(ctx, ref)
	}
	defer g.leave(b)
	select {
	case <-b.done:
	case <-ctx.Done():
		return provider.Machine{}, &provider.Error{
			Kind: provider.Unavailable, Reason: "TimedOut", Op: fmt.Sprintf("observe machine %q", ref.Name), Err: ctx.Err(),
		}
	}
	if b.err != nil {
		return provider.Machine{}, b.err
	}
	m, found := b.machines[keyOf(ref)]
	if !found || ref.ID != "" && m.ID != ref.ID {
		return g.Machines.Observe(ctx, ref)
	}
	m.Ref, m.Parts, m.Copies = ref, nil, nil
	return m, nil
}

// join adds a call to the next listing. It returns nil for a call that need not wait.
func (g *gatherer) join() *batch {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next == nil {
		if !g.busy() && time.Since(g.last) >= gatherFor {
			g.last = time.Now()
			return nil
		}
		b, before := newBatch(), g.listed
		g.next = b
		time.AfterFunc(time.Until(g.last.Add(gatherFor)), func() { g.run(b, before) })
	}
	g.next.calls++
	return g.next
}

func newBatch() *batch {
	b := &batch{done: make(chan struct{})}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b
}

// busy reports whether a listing is under way.
func (g *gatherer) busy() bool {
	if g.listed == nil {
		return false
	}
	select {
	case <-g.listed.done:
		return false
	default:
		return true
	}
}

// leave ends a call. A listing that no caller waits for is given up.
func (g *gatherer) leave(b *batch) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if b.calls--; b.calls == 0 && b.begun {
		b.cancel()
	}
}

// run lists once it is time to, for all who wait by then.
func (g *gatherer) run(b, before *batch) {
	defer b.cancel()
	if before != nil {
		<-before.done
	}
	defer close(b.done)
	if !g.begin(b) {
		return
	}
	ctx, cancel := context.WithTimeout(b.ctx, listTimeout)
	defer cancel()
	all, err := g.all(ctx)
	b.machines, b.err = index(all), err
}

// begin closes a batch to further calls. It reports whether a listing is worth it:
// a single call observes by itself.
func (g *gatherer) begin(b *batch) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	b.begun = true
	g.next, g.last = nil, time.Now()
	if b.calls < 2 {
		return false
	}
	g.listed = b
	return true
}

// index finds the machines of a listing. What is absent in it, or not there once, is
// left out: Observe decides.
func index(all []provider.Machine) map[machineKey]provider.Machine {
	found, twice := make(map[machineKey]provider.Machine, len(all)), map[machineKey]bool{}
	for _, m := range all {
		k := keyOf(m.Ref)
		_, again := found[k]
		twice[k] = twice[k] || again
		found[k] = m
	}
	for k, m := range found {
		if twice[k] || m.State == provider.StateAbsent {
			delete(found, k)
		}
	}
	return found
}
