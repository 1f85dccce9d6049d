// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
)

// Host is a machine on the network, from Attach until Detach, as a rule with one address.
// It is safe for concurrent use.
type Host struct {
	network *Network
	// own, confined and admits are guarded by the lock of the network.
	own      []netip.Addr
	confined netip.Prefix
	admits   func(Source) bool // nil: all

	mu        sync.Mutex
	addr      netip.Addr // the first of its own
	up        bool
	detached  bool
	aliases   map[netip.Addr]int
	listeners map[uint16]*listener
	forwards  map[uint16]string
	conns     map[*hostConn]struct{}
}

// NewHost returns a host without an address, which nothing reaches.
func (n *Network) NewHost() *Host {
	return &Host{
		network:   n,
		aliases:   map[netip.Addr]int{},
		listeners: map[uint16]*listener{},
		forwards:  map[uint16]string{},
		conns:     map[*hostConn]struct{}{},
	}
}

// Addr is the first address of the host; zero: it has none.
func (h *Host) Addr() netip.Addr {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.addr
}

// Up brings a reserved host onto the network.
func (h *Host) Up() {
	h.mu.Lock()
	h.up = true
	h.mu.Unlock()
	h.network.changed.send()
}

// Down takes the host off the network without giving its address free; its live
// connections are closed.
func (h *Host) Down() {
	h.mu.Lock()
	h.up = false
	conns := h.conns
	h.conns = map[*hostConn]struct{}{}
	h.mu.Unlock()
	for c := range conns {
		_ = c.Conn.Close()
	}
	h.network.changed.send()
}

// Alias gives the host a further address of its own, as on its loopback interface:
// other hosts do not reach it under it, but it takes what a balancer passes on to that
// address. At that address the host itself reaches nothing but itself. The alias ends with
// drop.
func (h *Host) Alias(addr netip.Addr) (drop func()) {
	addr = addr.Unmap()
	h.count(addr, 1)
	return sync.OnceFunc(func() { h.count(addr, -1) })
}

func (h *Host) count(addr netip.Addr, by int) {
	h.mu.Lock()
	h.aliases[addr] += by
	h.mu.Unlock()
	h.network.changed.send()
}

func (h *Host) has(addr netip.Addr) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return addr == h.addr || h.aliases[addr] > 0
}

// Listen opens a port in memory; no port of the real machine is used. Port 0 picks
// a free one. It fails if the port is in use or the host is detached.
func (h *Host) Listen(port uint16) (net.Listener, error) {
	defer h.network.changed.send()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.detached {
		return nil, h.listenError(port, syscall.EADDRNOTAVAIL)
	}
	if port == 0 {
		port = h.freePort()
	}
	if h.inUse(port) {
		return nil, h.listenError(port, syscall.EADDRINUSE)
	}
	l := newListener(h, port)
	h.listeners[port] = l
	return l, nil
}

// Forward leads a port to target, a real loopback address, in place of a listener
// on it. An empty target ends that; connections made so far stay.
func (h *Host) Forward(port uint16, target string) {
	defer h.network.changed.send()
	h.mu.Lock()
	defer h.mu.Unlock()
	if target == "" {
		delete(h.forwards, port)
		return
	}
	h.forwards[port] = target
}

// Cut closes the connections that were made to a port, as the end of the process that served it
// does.
func (h *Host) Cut(port uint16) {
	at := func(a net.Addr) bool {
		tcp, ok := a.(*net.TCPAddr)
		return ok && tcp.Port == int(port)
	}
	h.cut(func(c *hostConn) bool { return at(c.local) || at(c.remote) })
}

func (h *Host) cut(closes func(*hostConn) bool) {
	h.mu.Lock()
	var cut []*hostConn
	for c := range h.conns {
		if closes(c) {
			cut = append(cut, c)
			delete(h.conns, c)
		}
	}
	h.mu.Unlock()
	for _, c := range cut {
		_ = c.Conn.Close()
	}
}

// Detach takes the host off the network: its listeners and live connections are
// closed, and its address is free again. A second call does nothing.
func (h *Host) Detach() {
	h.mu.Lock()
	h.detached = true
	listeners, conns := h.listeners, h.conns
	h.listeners, h.conns = nil, nil
	h.mu.Unlock()
	h.network.forget(h)
	for _, l := range listeners {
		_ = l.shut()
	}
	for c := range conns {
		_ = c.Conn.Close()
	}
}

func (h *Host) find(port uint16) (path, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.up {
		return path{}, os.NewSyscallError("connect", syscall.EHOSTUNREACH)
	}
	if target, ok := h.forwards[port]; ok {
		return path{host: h, target: target}, nil
	}
	if l, ok := h.listeners[port]; ok {
		return path{host: h, listener: l}, nil
	}
	return path{}, os.NewSyscallError("connect", syscall.ECONNREFUSED)
}

// track ties conn to the host, so that Detach ends it.
func (h *Host) track(conn net.Conn, local, remote net.Addr) (net.Conn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.detached {
		_ = conn.Close()
		return nil, os.NewSyscallError("connect", syscall.EHOSTUNREACH)
	}
	c := &hostConn{Conn: conn, host: h, local: local, remote: remote}
	h.conns[c] = struct{}{}
	return c, nil
}

func (h *Host) untrack(c *hostConn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.conns, c)
}

func (h *Host) closed(l *listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.listeners[l.port] == l {
		delete(h.listeners, l.port)
	}
}

func (h *Host) freePort() uint16 {
	port := uint16(32768)
	for h.inUse(port) {
		port++
	}
	return port
}

func (h *Host) inUse(port uint16) bool {
	_, listening := h.listeners[port]
	_, forwarded := h.forwards[port]
	return listening || forwarded
}

func (h *Host) listenError(port uint16, errno syscall.Errno) error {
	at := netip.AddrPortFrom(h.addr, port)
	return fmt.Errorf("listen on the simulated network: %w",
		&net.OpError{Op: "listen", Net: "tcp", Addr: net.TCPAddrFromAddrPort(at), Err: os.NewSyscallError("bind", errno)})
}
