// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"
)

// recheck is how often Await looks at what changes without a signal: the targets of
// balancers, the addresses of names, and real addresses.
const recheck = time.Second

// signal wakes all that wait, with each change.
type signal struct {
	mu   sync.Mutex
	next chan struct{}
}

func newSignal() *signal { return &signal{next: make(chan struct{})} }

// wait returns a channel that the next change closes.
func (s *signal) wait() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next
}

func (s *signal) send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.next)
	s.next = make(chan struct{})
}

// Changed returns a channel that is closed with the next change of the network.
func (n *Network) Changed() <-chan struct{} { return n.changed.wait() }

// Await returns once hostport takes connections from inside, or with the error of ctx.
func (n *Network) Await(ctx context.Context, hostport string) error {
	return n.AwaitFrom(ctx, Source{}, hostport)
}

// AwaitFrom is Await for the connections of a source.
func (n *Network) AwaitFrom(ctx context.Context, from Source, hostport string) error {
	for {
		changed := n.changed.wait()
		if n.answers(ctx, from, hostport) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		case <-time.After(recheck):
		}
	}
}

// answers dials only where nothing else shows it.
func (n *Network) answers(ctx context.Context, from Source, hostport string) bool {
	p, err := n.find(from, "tcp", hostport)
	if err != nil || !p.real {
		return err == nil
	}
	ctx, cancel := context.WithTimeout(ctx, recheck)
	defer cancel()
	conn, err := n.dialTarget(ctx, p)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// Claim attaches a host under addr as soon as no other host holds it.
func (n *Network) Claim(ctx context.Context, addr netip.Addr) (*Host, error) {
	if !isHostAddress(addr.Unmap()) {
		return n.Attach(addr)
	}
	for {
		changed := n.changed.wait()
		if h, err := n.Attach(addr); err == nil {
			return h, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("claim %v on the simulated network: %w", addr, ctx.Err())
		case <-changed:
		}
	}
}
