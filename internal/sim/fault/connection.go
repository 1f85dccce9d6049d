// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"net"
	"sync"
)

// Listen applies the faults of connections to those that l accepts. While the
// platform hangs they stay open, and nothing is read from them or written to them. They
// are cut when another platform takes its address, and when it gets the address back.
func (c *Injector) Listen(l net.Listener) net.Listener {
	if c == nil {
		return l
	}
	ctx, stop := context.WithCancel(context.Background())
	out := &listener{Listener: l, injector: c, ctx: ctx, stop: stop, open: map[*connection]bool{}}
	go out.cutAtChanges()
	return out
}

type listener struct {
	net.Listener
	injector *Injector
	ctx      context.Context // ends with Close
	stop     context.CancelFunc

	mu   sync.Mutex
	open map[*connection]bool
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(l.ctx)
	c := &connection{Conn: accepted, listener: l, ctx: ctx, stop: stop}
	l.mu.Lock()
	defer l.mu.Unlock()
	c.second = l.injector.On(SecondPlatform)
	l.open[c] = true
	return c, nil
}

// Close implements net.Listener. Connections that hang end with it.
func (l *listener) Close() error {
	l.stop()
	return l.Listener.Close()
}

// cutAtChanges cuts the connections to the platform that answers no longer whenever another
// one begins to.
func (l *listener) cutAtChanges() {
	second := l.injector.On(SecondPlatform)
	for l.injector.Await(l.ctx, func() bool { return l.injector.On(SecondPlatform) != second }) {
		second = !second
		l.mu.Lock()
		for c := range l.open {
			if c.second == second {
				continue
			}
			c.stop()
			_ = c.Conn.Close() // it may be closed already
			delete(l.open, c)
		}
		l.mu.Unlock()
	}
}

// connection is one that may hang.
type connection struct {
	net.Conn
	listener *listener
	ctx      context.Context
	stop     context.CancelFunc
	second   bool // accepted while the second platform answered
}

// Read implements net.Conn. What arrives while the platform hangs is read later.
func (c *connection) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && !c.pass() {
		return 0, net.ErrClosed
	}
	return n, err
}

// Write implements net.Conn.
func (c *connection) Write(b []byte) (int, error) {
	if !c.pass() {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(b)
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.stop()
	c.listener.mu.Lock()
	delete(c.listener.open, c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// pass waits while the platform hangs; it is false if the connection ended before.
func (c *connection) pass() bool {
	injector := c.listener.injector
	if _, hangs := injector.lasting(func(f Fault) bool { return f.Kind == Hang }); !hangs {
		return true
	}
	return injector.Await(c.ctx, func() bool { return !injector.On(Hang) })
}
