// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package network is the simulated network of a rehearsal.
//
// It keeps the addresses that the user wrote: machines attach to it under their
// own address, and a connection reaches only what was attached, routed, named or
// balanced before. Everything else fails as it would on a real network; no name
// is ever looked up, and no address outside of loopback is ever dialled unless
// Open says so.
package network

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// Network connects attached hosts and routed endpoints with those that dial them.
// It is safe for concurrent use.
type Network struct {
	mu        sync.Mutex
	hosts     map[netip.Addr][]*Host // more than one: a conflict
	turns     map[netip.Addr]int     // who of them got the last connection
	routes    map[endpoint]string
	names     map[string][]*record
	balancers map[endpoint]*balancer
	open      []netip.Prefix
	private   []netip.Prefix
	joined    bool // those outside reach private addresses too
	changed   *signal
	dial      dialFunc // every real connection is made by it
	dialled   atomic.Uint32
}

type dialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// endpoint is a lower-case name, or an address in its shortest form, and a port.
type endpoint struct {
	host string
	port uint16
}

// path is how an endpoint is reached: a listener in memory, a loopback address or,
// if it is in an open prefix, the address itself.
type path struct {
	host     *Host // nil for a routed endpoint
	listener *listener
	target   string
	real     bool
}

// New returns a network on which nothing can be reached.
func New() *Network {
	return &Network{
		hosts: map[netip.Addr][]*Host{}, turns: map[netip.Addr]int{}, routes: map[endpoint]string{},
		names: map[string][]*record{}, balancers: map[endpoint]*balancer{},
		changed: newSignal(), dial: new(net.Dialer).DialContext,
	}
}

// Attach brings a host up under addr. It fails while another one holds the address.
func (n *Network) Attach(addr netip.Addr) (*Host, error) {
	h, err := n.Reserve(addr)
	if err == nil {
		h.Up()
	}
	return h, err
}

// Reserve holds addr for a host that is not reachable before its Up.
func (n *Network) Reserve(addr netip.Addr) (*Host, error) {
	h := n.NewHost()
	return h, h.Acquire(addr)
}

func isHostAddress(a netip.Addr) bool {
	return a.IsValid() && !a.IsUnspecified() && !a.IsMulticast() && !a.IsLoopback()
}

func (n *Network) taken(addr netip.Addr) bool {
	return len(n.hosts[addr]) > 0 || n.isBalanced(addr.String())
}

// Route leads hostport, for example a platform's API, to target, which must be a
// loopback address; Dial fails on any other. An empty target ends the route.
func (n *Network) Route(hostport, target string) {
	at, err := parseEndpoint(hostport)
	if err != nil {
		return // such an endpoint cannot be dialled either
	}
	defer n.changed.send()
	n.mu.Lock()
	defer n.mu.Unlock()
	if target == "" {
		delete(n.routes, at)
		return
	}
	n.routes[at] = target
}

// Dial connects to hostport over "tcp", "tcp4" or "tcp6" from inside. An unknown address is
// EHOSTUNREACH, a closed port ECONNREFUSED, an unknown name a *net.DNSError.
func (n *Network) Dial(ctx context.Context, network, hostport string) (net.Conn, error) {
	return n.DialFrom(ctx, Source{}, network, hostport)
}

func (n *Network) connect(ctx context.Context, p path, hostport string) (net.Conn, error) {
	remote := simulatedAddr(hostport)
	if p.listener != nil {
		client, server := pipe(n.ephemeral(), remote)
		return client, p.listener.deliver(ctx, server)
	}
	conn, err := n.dialTarget(ctx, p)
	if err != nil || p.host == nil {
		return conn, err
	}
	return p.host.track(conn, conn.LocalAddr(), remote)
}

// dialTarget makes a real connection: to loopback, or into an open prefix.
func (n *Network) dialTarget(ctx context.Context, p path) (net.Conn, error) {
	if p.real {
		return n.dial(ctx, "tcp", p.target)
	}
	return dialLoopback(ctx, n.dial, p.target)
}

// find says how an endpoint is reached, with the error of a real network if not.
func (n *Network) find(from Source, network, hostport string) (path, error) {
	switch network {
	case "tcp", "tcp4", "tcp6":
	default:
		return path{}, net.UnknownNetworkError(network)
	}
	at, err := parseEndpoint(hostport)
	if err != nil {
		return path{}, err
	}
	return n.lead(from, at)
}

// lead calls what others registered without holding the lock.
func (n *Network) lead(from Source, at endpoint) (path, error) {
	n.mu.Lock()
	target, routed := n.routes[at]
	balancer, records := n.balancers[at], slices.Clone(n.names[at.host])
	hidden, balanced := n.isHidden(from, at.host, balancer), n.isBalanced(at.host)
	addr, _ := netip.ParseAddr(at.host)
	own := addr.IsValid() && n.isAlias(from.Address, addr)
	stranded := n.isStranded(from, addr)
	n.mu.Unlock()
	switch {
	case own: // it never leaves the host
		return n.findHost(from, endpoint{from.Address.Unmap().String(), at.port})
	case stranded:
		return path{}, os.NewSyscallError("connect", syscall.EHOSTUNREACH)
	case routed:
		return path{target: target}, nil
	case hidden:
		return path{}, lost()
	case balancer != nil:
		return n.balance(from, balancer)
	case len(records) > 0 && !balanced:
		return n.resolve(from, at, records)
	}
	return n.findHost(from, at)
}

func (n *Network) findHost(from Source, at endpoint) (path, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	addr, err := netip.ParseAddr(at.host)
	if err != nil {
		return path{}, n.noHostAt(at, &net.DNSError{Err: "no such host", Name: at.host, IsNotFound: true})
	}
	h := n.answering(addr)
	if h != nil {
		if h.strands(from) {
			return path{}, lost()
		}
		p, err := h.find(at.port)
		if err == nil || !n.isOpen(addr) {
			return p, err
		}
	}
	if n.isOpen(addr) {
		return path{host: h, target: netip.AddrPortFrom(addr, at.port).String(), real: true}, nil
	}
	return path{}, n.noHostAt(at, os.NewSyscallError("connect", syscall.EHOSTUNREACH))
}

// noHostAt is unknown, unless another port of the endpoint's host is known.
func (n *Network) noHostAt(at endpoint, unknown error) error {
	for known := range n.routes {
		if known.host == at.host {
			return os.NewSyscallError("connect", syscall.ECONNREFUSED)
		}
	}
	if n.isBalanced(at.host) {
		return os.NewSyscallError("connect", syscall.ECONNREFUSED)
	}
	return unknown
}

func (n *Network) forget(h *Host) {
	defer n.changed.send()
	n.mu.Lock()
	defer n.mu.Unlock()
	h.leave()
}

// ephemeral is the source address of a connection made in this process.
func (n *Network) ephemeral() net.Addr {
	port := uint16(49152 + n.dialled.Add(1)%16384)
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port))
}

func dialLoopback(ctx context.Context, dial dialFunc, target string) (net.Conn, error) {
	at, err := netip.ParseAddrPort(target)
	if err != nil || !at.Addr().IsLoopback() {
		return nil, fmt.Errorf("the simulated network routes to loopback addresses only, not to %q", target)
	}
	return dial(ctx, "tcp", target)
}

func parseEndpoint(hostport string) (endpoint, error) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return endpoint{}, err
	}
	p, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return endpoint{}, &net.AddrError{Err: "invalid port", Addr: hostport}
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		host = addr.Unmap().String()
	}
	return endpoint{host: strings.ToLower(strings.TrimSuffix(host, ".")), port: uint16(p)}, nil
}

// simulatedAddr is how a connection names its far end; a name has no address here.
func simulatedAddr(hostport string) net.Addr {
	at, err := netip.ParseAddrPort(hostport)
	if err != nil {
		return &net.TCPAddr{IP: net.IPv4zero}
	}
	return net.TCPAddrFromAddrPort(at)
}

func dialError(network, hostport string, err error) error {
	return &net.OpError{Op: "dial", Net: network, Addr: textAddr{network, hostport}, Err: err}
}

// textAddr is an address that could not be resolved or reached.
type textAddr struct{ network, address string }

func (a textAddr) Network() string { return a.network }
func (a textAddr) String() string  { return a.address }
