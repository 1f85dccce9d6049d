// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package passthrough

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"

	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/sim/network"
	"github.com/butlerdotdev/butler/internal/sim/sni"
)

// table is where connections are passed on, by the address and port that they come to: from a
// name to the address and port of a Service.
type table map[netip.AddrPort]map[string]netip.AddrPort

// add enters a route; the first one of a name stays.
func (t table) add(at netip.AddrPort, name string, to netip.AddrPort) {
	t.open(at)
	if _, has := t[at][name]; !has {
		t[at][name] = to
	}
}

// open has a port answer, also without routes.
func (t table) open(at netip.AddrPort) {
	if t[at] == nil {
		t[at] = map[string]netip.AddrPort{}
	}
}

// ports are those of each address, in order.
func (t table) ports() map[netip.Addr][]uint16 {
	out := map[netip.Addr][]uint16{}
	for at := range t {
		out[at.Addr()] = append(out[at.Addr()], at.Port())
	}
	for _, ports := range out {
		slices.Sort(ports)
	}
	return out
}

// switchboard passes connections on by the table of the moment.
type switchboard struct {
	ctx     context.Context //nolint:containedctx // the life of the program
	network *network.Network
	log     *slog.Logger
	// shown is what clients of unknown names see; nil: nothing.
	shown *tls.Certificate

	mu     sync.Mutex
	table  table
	ports  map[netip.Addr][]uint16
	closes map[netip.Addr]context.CancelFunc
}

func newSwitchboard(ctx context.Context, o Options, terminates bool) *switchboard {
	s := &switchboard{ctx: ctx, network: o.Network, log: o.Log, ports: map[netip.Addr][]uint16{}, closes: map[netip.Addr]context.CancelFunc{}}
	if terminates {
		s.shown = selfSigned()
	}
	return s
}

// set changes the table. An address whose ports change is opened again.
func (s *switchboard) set(t table) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.table = t
	wanted := t.ports()
	for address, ports := range maps.Clone(s.ports) {
		if !slices.Equal(ports, wanted[address]) {
			s.closes[address]()
			delete(s.ports, address)
		}
	}
	for address, ports := range wanted {
		if s.ports[address] != nil {
			continue
		}
		ctx, cancel := context.WithCancel(s.ctx)
		s.ports[address], s.closes[address] = ports, cancel
		go s.serve(ctx, address, ports)
	}
}

// serve answers at an address as soon as no other program does.
func (s *switchboard) serve(ctx context.Context, address netip.Addr, ports []uint16) {
	host, err := s.network.Claim(ctx, address)
	if err != nil {
		return
	}
	defer host.Detach()
	for _, port := range ports {
		l, err := host.Listen(port)
		if err != nil {
			s.log.Warn("a proxy cannot listen", "address", address, "port", port, "error", err)
			continue
		}
		at := netip.AddrPortFrom(address, port)
		proxy := sni.Proxy{Default: s.shown, Route: func(ctx context.Context, name string) (net.Conn, error) { return s.connect(ctx, at, name) }}
		go func() { _ = proxy.Serve(l) }()
	}
	<-ctx.Done()
}

// selfSigned is the certificate that an ingress controller has of itself.
func selfSigned() *tls.Certificate {
	ca, err := pki.NewCA("default")
	if err != nil {
		return nil
	}
	pair, err := ca.Issue(pki.Request{CommonName: "default", Names: []string{"default.invalid"}, Server: true})
	if err != nil {
		return nil
	}
	out, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		return nil
	}
	return &out
}

func (s *switchboard) connect(ctx context.Context, at netip.AddrPort, name string) (net.Conn, error) {
	s.mu.Lock()
	to, ok := s.table[at][name]
	s.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("no route for %q", name)
	}
	return s.network.Dial(ctx, "tcp", to.String())
}
