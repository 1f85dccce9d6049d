// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// record is one registration of a name.
type record struct{ addrs func() []netip.Addr }

// Name resolves a name to whichever of the addresses takes a connection, as a DNS
// record with several addresses does. Registrations of the same name add up; this
// one ends with forget.
func (n *Network) Name(name string, addrs func() []netip.Addr) (forget func()) {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	r := &record{addrs}
	n.setRecords(name, func(all []*record) []*record { return append(all, r) })
	return sync.OnceFunc(func() {
		n.setRecords(name, func(all []*record) []*record {
			return slices.DeleteFunc(all, func(other *record) bool { return other == r })
		})
	})
}

func (n *Network) setRecords(name string, change func([]*record) []*record) {
	defer n.changed.send()
	n.mu.Lock()
	defer n.mu.Unlock()
	all := change(n.names[name])
	if len(all) == 0 {
		delete(n.names, name)
		return
	}
	n.names[name] = all
}

// resolve tries the addresses of a name in turn. What is sent to an address that has
// others, such as a public one, is passed on inside.
func (n *Network) resolve(from Source, at endpoint, records []*record) (path, error) {
	if _, err := netip.ParseAddr(at.host); err == nil {
		from.Outside = false
	}
	err := os.NewSyscallError("connect", syscall.EHOSTUNREACH)
	for _, r := range records {
		for _, addr := range r.addrs() {
			var p path
			if p, err = n.lead(from, endpoint{addr.Unmap().String(), at.port}); err == nil {
				return p, nil
			}
		}
	}
	return path{}, err
}

// Balancer passes connections on to targets that have their port open, each in its turn;
// without one, connections are refused.
type Balancer struct {
	Targets func() []netip.AddrPort
	// Passthrough keeps the balancer's address as the destination of packets: a target
	// that does not have this address as an alias drops them. It implies Silent.
	Passthrough bool
	// Silent balancers rewrite packets at most and accept no connections themselves: without
	// a target, what is sent to them is lost.
	Silent bool
	// Internal balancers are reached from inside only.
	Internal bool
	// PreservesClient reports whether packets keep the client's address as their source,
	// so that a client that is passed on to itself gets no answer. Nil: they do not.
	PreservesClient func() bool
	// Admits reports whether connections of a source are accepted; those of others are
	// lost. Nil: all are.
	Admits func(Source) bool
}

// balancer is a Balancer in its place.
type balancer struct {
	Balancer
	at    endpoint
	addr  netip.Addr // of the balancer, zero for one with a name
	turns atomic.Uint32
}

// Balance adds a balancer that is reached from everywhere and does not preserve clients;
// see AddBalancer.
func (n *Network) Balance(at string, targets func() []netip.AddrPort, passthrough bool) (stop func(), err error) {
	return n.AddBalancer(at, Balancer{Targets: targets, Passthrough: passthrough})
}

// AddBalancer serves at, an address or a name with a port, by b. Other ports of a name that
// a balancer has are closed. The balancer ends with stop.
func (n *Network) AddBalancer(at string, b Balancer) (stop func(), err error) {
	where, err := parseEndpoint(at)
	if err != nil {
		return nil, fmt.Errorf("balance %s: %w", at, err)
	}
	placed := &balancer{Balancer: b, at: where}
	placed.addr, err = netip.ParseAddr(where.host)
	if err != nil && b.Passthrough {
		return nil, fmt.Errorf("balance %s: packets are passed through to an address, not to a name", at)
	}
	if err := n.addBalancer(placed); err != nil {
		return nil, fmt.Errorf("balance %s: %w", at, err)
	}
	return func() { n.removeBalancer(placed) }, nil
}

func (n *Network) addBalancer(b *balancer) error {
	defer n.changed.send()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.balancers[b.at] != nil {
		return fmt.Errorf("there is a balancer already")
	}
	if len(n.hosts[b.addr]) > 0 {
		return fmt.Errorf("the address belongs to a host")
	}
	n.balancers[b.at] = b
	return nil
}

func (n *Network) removeBalancer(b *balancer) {
	defer n.changed.send()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.balancers[b.at] == b {
		delete(n.balancers, b.at)
	}
}

// isBalanced reports whether a balancer has any port of a host. It is called under lock.
func (n *Network) isBalanced(host string) bool {
	for at := range n.balancers {
		if at.host == host {
			return true
		}
	}
	return false
}

// balance finds a target that takes the connection.
func (n *Network) balance(from Source, b *balancer) (path, error) {
	if b.Admits != nil && !b.Admits(from) {
		return path{}, lost()
	}
	preserves := b.PreservesClient != nil && b.PreservesClient()
	for _, target := range b.inTurn() {
		addr := target.Addr().Unmap()
		p, err := n.findHost(Source{}, endpoint{addr.String(), target.Port()})
		switch {
		case err != nil:
		case preserves && addr == from.Address, b.Passthrough && !n.HasAlias(addr, b.addr):
			return path{}, lost()
		default:
			return p, nil
		}
	}
	if b.Silent || b.Passthrough {
		return path{}, lost()
	}
	return path{}, os.NewSyscallError("connect", syscall.ECONNREFUSED)
}

// inTurn returns the targets, beginning with another one each time.
func (b *balancer) inTurn() []netip.AddrPort {
	all := b.Targets()
	if len(all) == 0 {
		return nil
	}
	first := int(b.turns.Add(1)-1) % len(all)
	return slices.Concat(all[first:], all[:first])
}

// HasAlias reports whether the host at an address has another one as an alias, or as its
// own address.
func (n *Network) HasAlias(host, alias netip.Addr) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.isAlias(host, alias)
}

// isAlias is called under lock.
func (n *Network) isAlias(host, alias netip.Addr) bool {
	return slices.ContainsFunc(n.hosts[host.Unmap()], func(h *Host) bool { return h.has(alias.Unmap()) })
}
