// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
)

// backlog is how many connections wait for Accept before a dialler has to wait.
const backlog = 128

// listener is an open port of a host.
type listener struct {
	host  *Host
	port  uint16
	queue chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newListener(h *Host, port uint16) *listener {
	return &listener{host: h, port: port, queue: make(chan net.Conn, backlog), done: make(chan struct{})}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case <-l.done:
		return nil, l.closedError()
	default:
	}
	select {
	case conn := <-l.queue:
		return conn, nil
	case <-l.done:
		return nil, l.closedError()
	}
}

func (l *listener) Close() error {
	l.host.closed(l)
	return l.shut()
}

func (l *listener) Addr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(l.host.Addr(), l.port))
}

// deliver queues the server's end of a new connection; on an error it is closed.
func (l *listener) deliver(ctx context.Context, conn net.Conn) error {
	tracked, err := l.host.track(conn, l.Addr(), conn.RemoteAddr())
	if err != nil {
		return err
	}
	select {
	case <-l.done:
		err = os.NewSyscallError("connect", syscall.ECONNREFUSED)
	case l.queue <- tracked:
		return l.recheck()
	case <-ctx.Done():
		err = ctx.Err()
	}
	_ = tracked.Close()
	return err
}

// recheck resets what slipped into the queue while the listener was closing.
func (l *listener) recheck() error {
	select {
	case <-l.done:
		l.drain()
		return os.NewSyscallError("connect", syscall.ECONNREFUSED)
	default:
		return nil
	}
}

func (l *listener) shut() error {
	err := l.closedError()
	l.once.Do(func() {
		close(l.done)
		l.drain()
		err = nil
	})
	return err
}

func (l *listener) drain() {
	for {
		select {
		case conn := <-l.queue:
			_ = conn.Close()
		default:
			return
		}
	}
}

func (l *listener) closedError() error {
	return &net.OpError{Op: "accept", Net: "tcp", Addr: l.Addr(), Err: net.ErrClosed}
}
