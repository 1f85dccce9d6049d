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

// resolve tries the addresses of a name in turn.
func (n *Network) resolve(at endpoint, records []*record) (path, error) {
	err := os.NewSyscallError("connect", syscall.EHOSTUNREACH)
	for _, r := range records {
		for _, addr := range r.addrs() {
			var p path
			if p, err = n.lead(endpoint{addr.Unmap().String(), at.port}); err == nil {
				return p, nil
			}
		}
	}
	return path{}, err
}

// balancer passes connections on to its targets.
type balancer struct {
	at          endpoint
	addr        netip.Addr // of the balancer, zero for one with a name
	targets     func() []netip.AddrPort
	passthrough bool
}

// Balance serves at, an address or a name with a port, by the first of the targets that
// has its port open; without one, connections are refused. With passthrough the
// packets keep the balancer's address as their destination, so that only a target
// that has this address as an alias takes them. The balancer ends with stop.
func (n *Network) Balance(at string, targets func() []netip.AddrPort, passthrough bool) (stop func(), err error) {
	where, err := parseEndpoint(at)
	if err != nil {
		return nil, fmt.Errorf("balance %s: %w", at, err)
	}
	b := &balancer{at: where, targets: targets, passthrough: passthrough}
	b.addr, err = netip.ParseAddr(where.host)
	if err != nil && passthrough {
		return nil, fmt.Errorf("balance %s: packets are passed through to an address, not to a name", at)
	}
	if err := n.addBalancer(b); err != nil {
		return nil, fmt.Errorf("balance %s: %w", at, err)
	}
	return func() { n.removeBalancer(b) }, nil
}

func (n *Network) addBalancer(b *balancer) error {
	defer n.changed.send()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.balancers[b.at] != nil {
		return fmt.Errorf("there is a balancer already")
	}
	if n.hosts[b.addr] != nil {
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

// balance finds a target that takes the connection.
func (n *Network) balance(b *balancer) (path, error) {
	for _, target := range b.targets() {
		addr := target.Addr().Unmap()
		if b.passthrough && !n.hasAlias(addr, b.addr) {
			continue
		}
		if p, err := n.findHost(endpoint{addr.String(), target.Port()}); err == nil {
			return p, nil
		}
	}
	return path{}, os.NewSyscallError("connect", syscall.ECONNREFUSED)
}

func (n *Network) hasAlias(target, alias netip.Addr) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	h := n.hosts[target]
	return h != nil && h.has(alias)
}
