// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package network_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"testing"

	"github.com/butlerdotdev/butler/internal/sim/network"
)

// from returns both ways into a network for a source.
func from(t *testing.T, n *network.Network, s network.Source) map[string]dial {
	t.Helper()
	return map[string]dial{
		"direct": func(ctx context.Context, protocol, addr string) (net.Conn, error) {
			return n.DialFrom(ctx, s, protocol, addr)
		},
		"socks": network.Dialer(serveSOCKSTo(t, n, s)),
	}
}

// cloudNetwork has a private host with a public address, and a balancer of either kind.
func cloudNetwork(t *testing.T) *network.Network {
	t.Helper()
	n := network.New()
	attach(t, n, "10.0.0.10").Forward(50000, loopbackEcho(t))
	n.Route("api.example.com:443", loopbackEcho(t))
	n.Name("203.0.113.7", addrs("10.0.0.10"))
	n.Name("node.example.com", addrs("10.0.0.10"))
	for at, internal := range map[string]bool{"public.example.com:50000": false, "internal.example.com:50000": true, "10.0.0.9:50000": false} {
		_, err := n.AddBalancer(at, network.Balancer{Targets: samePort(at, addrs("10.0.0.10")), Internal: internal})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Private(netip.MustParsePrefix("10.0.0.0/24")); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestPrivateAddressesAreReachedFromInsideOnly(t *testing.T) {
	n := cloudNetwork(t)
	inside, outside := from(t, n, network.Source{}), from(t, n, network.Workstation())
	for addr, want := range map[string]error{
		"10.0.0.10:50000":            syscall.ETIMEDOUT,
		"10.0.0.10:1":                syscall.ETIMEDOUT, // a closed port does not show either
		"10.0.0.11:50000":            syscall.ETIMEDOUT,
		"10.0.0.9:50000":             syscall.ETIMEDOUT,
		"internal.example.com:50000": syscall.ETIMEDOUT,
		"node.example.com:50000":     syscall.ETIMEDOUT, // its address is known, and private
		"203.0.113.7:50000":          nil,
		"public.example.com:50000":   nil,
		"public.example.com:6443":    syscall.ECONNREFUSED,
		"api.example.com:443":        nil,
	} {
		for way, dial := range outside {
			if err := refusal(t, dial, addr); !errors.Is(err, want) {
				t.Errorf("%s from outside, %s: %v, want %v", addr, way, err, want)
			}
		}
	}
	for _, addr := range []string{"10.0.0.10:50000", "10.0.0.9:50000", "internal.example.com:50000", "node.example.com:50000", "203.0.113.7:50000"} {
		for way, dial := range inside {
			if err := refusal(t, dial, addr); err != nil {
				t.Errorf("%s from inside, %s: %v", addr, way, err)
			}
		}
	}
	n.JoinOutside()
	for way, dial := range outside {
		for _, addr := range []string{"10.0.0.10:50000", "internal.example.com:50000"} {
			if err := refusal(t, dial, addr); err != nil {
				t.Errorf("%s with a route, %s: %v", addr, way, err)
			}
		}
	}
}

func TestPrivateNeedsAPrefixOfHosts(t *testing.T) {
	for _, p := range []netip.Prefix{{}, netip.MustParsePrefix("127.0.0.0/8")} {
		if network.New().Private(p) == nil {
			t.Errorf("%v is private", p)
		}
	}
}

// TestClientThatReachesItself is what happens to a control plane behind a balancer that
// keeps the addresses of clients.
func TestClientThatReachesItself(t *testing.T) {
	n := network.New()
	for _, addr := range []string{"10.0.0.10", "10.0.0.11"} {
		attach(t, n, addr).Forward(6443, loopbackEcho(t))
	}
	preserves := true
	_, err := n.AddBalancer("lb.example.com:6443", network.Balancer{
		Targets: samePort("lb.example.com:6443", addrs("10.0.0.10", "10.0.0.11")), PreservesClient: func() bool { return preserves },
	})
	if err != nil {
		t.Fatal(err)
	}
	fails := func(client string) (count int) {
		for range 10 {
			conn, err := n.DialFrom(t.Context(), network.Source{Address: netip.MustParseAddr(client)}, "tcp", "lb.example.com:6443")
			if err == nil {
				_ = conn.Close()
			} else if count++; !errors.Is(err, syscall.ETIMEDOUT) {
				t.Error(err)
			}
		}
		return count
	}
	if got := fails("10.0.0.11"); got != 5 {
		t.Errorf("%d of 10 connections of a target failed, want those to itself", got)
	}
	if got := fails("10.0.0.12"); got != 0 {
		t.Errorf("%d of 10 connections of another host failed", got)
	}
	preserves = false
	if got := fails("10.0.0.11"); got != 0 {
		t.Errorf("%d of 10 connections failed without the client's address", got)
	}
}

func TestBalancerDropsWhatItDoesNotAdmit(t *testing.T) {
	n := network.New()
	attach(t, n, "10.0.0.10").Forward(6443, loopbackEcho(t))
	office := netip.MustParsePrefix("198.51.100.0/24")
	_, err := n.AddBalancer("lb.example.com:6443", network.Balancer{
		Targets: samePort("lb.example.com:6443", addrs("10.0.0.10")),
		Admits:  func(s network.Source) bool { return office.Contains(s.Address) },
	})
	if err != nil {
		t.Fatal(err)
	}
	for way, dial := range from(t, n, network.Workstation()) {
		if err := refusal(t, dial, "lb.example.com:6443"); !errors.Is(err, syscall.ETIMEDOUT) {
			t.Errorf("%s: %v", way, err)
		}
	}
	for way, dial := range from(t, n, network.Source{Outside: true, Address: office.Addr().Next()}) {
		if err := refusal(t, dial, "lb.example.com:6443"); err != nil {
			t.Errorf("%s, admitted: %v", way, err)
		}
	}
}
