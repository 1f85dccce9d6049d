// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
)

// Source is where a connection comes from. The zero one is inside, at no address of its
// own: what the simulator itself dials.
type Source struct {
	// Outside is true for those who reach public addresses only.
	Outside bool
	// Address is the address of the host that dials, as balancers see it.
	Address netip.Addr
}

// Workstation returns the source of the operator's connections: outside, at a public
// address.
func Workstation() Source {
	return Source{Outside: true, Address: netip.AddrFrom4([4]byte{192, 0, 2, 10})}
}

// Private declares that the addresses of prefix are reached from inside only. From
// outside they do not answer: what is sent to them is lost.
func (n *Network) Private(prefix netip.Prefix) error {
	if !prefix.IsValid() || !isHostAddress(prefix.Addr()) {
		return fmt.Errorf("private addresses %v of the simulated network: not the prefix of a subnet", prefix)
	}
	defer n.changed.send()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.private = append(n.private, prefix.Masked())
	return nil
}

// JoinOutside gives those outside a route to private addresses, as a VPN does.
func (n *Network) JoinOutside() {
	defer n.changed.send()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.joined = true
}

// isHidden reports whether what a source sends to a host is lost. It is called under lock.
func (n *Network) isHidden(from Source, host string, b *balancer) bool {
	if !from.Outside || n.joined {
		return false
	}
	if b != nil && b.Internal {
		return true
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	for _, p := range n.private {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// lost is the error of a connection whose packets are dropped on the way. It comes at
// once; a kernel reports it after minutes.
func lost() error { return os.NewSyscallError("connect", syscall.ETIMEDOUT) }

// DialFrom is Dial from a source. What does not arrive is ETIMEDOUT.
func (n *Network) DialFrom(ctx context.Context, from Source, network, hostport string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, dialError(network, hostport, err)
	}
	p, err := n.find(from, network, hostport)
	if err != nil {
		return nil, dialError(network, hostport, err)
	}
	conn, err := n.connect(ctx, p, hostport)
	if err != nil {
		return nil, dialError(network, hostport, err)
	}
	return conn, nil
}
