// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package network_test

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"syscall"
	"testing"

	"github.com/butlerdotdev/butler/internal/sim/network"
)

// greeter is a host at an address that sends its name to all who connect.
func greeter(t *testing.T, n *network.Network, name string, addrs ...string) *network.Host {
	t.Helper()
	h := n.NewHost()
	l, err := h.Listen(50000)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, name)
		}
	}()
	h.Bind(parsed(addrs...)...)
	h.Up()
	t.Cleanup(h.Detach)
	return h
}

func parsed(addrs ...string) (out []netip.Addr) {
	for _, a := range addrs {
		out = append(out, netip.MustParseAddr(a))
	}
	return out
}

// greeted connects and returns the name of the host that answers.
func greeted(t *testing.T, n *network.Network, from network.Source, at string) (net.Conn, string) {
	t.Helper()
	conn, err := n.DialFrom(t.Context(), from, "tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	name := make([]byte, 1)
	if _, err := io.ReadFull(conn, name); err != nil {
		t.Fatal(err)
	}
	return conn, string(name)
}

func TestTwoHostsWithOneAddressTakeTurns(t *testing.T) {
	n := network.New()
	greeter(t, n, "a", "10.40.0.5")
	first, name := greeted(t, n, network.Source{}, "10.40.0.5:50000")
	if name != "a" || n.InConflict(netip.MustParseAddr("10.40.0.5")) {
		t.Errorf("%s answers", name)
	}
	second := greeter(t, n, "b", "10.40.0.5")
	if !n.InConflict(netip.MustParseAddr("10.40.0.5")) {
		t.Error("no conflict")
	}
	seen := map[string]int{}
	for range 4 {
		_, name := greeted(t, n, network.Source{}, "10.40.0.5:50000")
		seen[name]++
	}
	if seen["a"] != 2 || seen["b"] != 2 {
		t.Errorf("answers: %v", seen)
	}
	if _, err := first.Read(make([]byte, 1)); err == nil {
		t.Error("a connection outlives the conflict")
	}
	second.Detach()
	for range 2 {
		if _, name := greeted(t, n, network.Source{}, "10.40.0.5:50000"); name != "a" {
			t.Errorf("%s answers after the conflict", name)
		}
	}
}

func TestSecondHostDoesNotUseAnIPv6Address(t *testing.T) {
	n := network.New()
	greeter(t, n, "a", "fd00::5")
	if second := greeter(t, n, "b", "fd00::5", "fd00::6"); second.Addr() != netip.MustParseAddr("fd00::6") {
		t.Errorf("the second host has %v", second.Addr())
	}
	for range 2 {
		if _, name := greeted(t, n, network.Source{}, "[fd00::5]:50000"); name != "a" {
			t.Errorf("%s answers", name)
		}
	}
}

func TestHostChangesItsAddresses(t *testing.T) {
	n := network.New()
	h := greeter(t, n, "a")
	if h.Addr().IsValid() {
		t.Errorf("address %v", h.Addr())
	}
	h.Bind(parsed("10.40.0.5", "10.40.0.6")...)
	for _, at := range []string{"10.40.0.5:50000", "10.40.0.6:50000"} {
		greeted(t, n, network.Source{}, at)
	}
	if err := h.Acquire(netip.MustParseAddr("10.40.0.6")); err != nil {
		t.Error(err)
	}
	if _, err := n.Dial(t.Context(), "tcp", "10.40.0.5:50000"); !errors.Is(err, syscall.EHOSTUNREACH) {
		t.Errorf("the old address: %v", err)
	}
	if err := n.NewHost().Acquire(netip.MustParseAddr("10.40.0.6")); err == nil {
		t.Error("another host acquires the address")
	}
	h.Detach()
	h.Bind(parsed("10.40.0.5")...)
	if _, err := n.Dial(t.Context(), "tcp", "10.40.0.5:50000"); !errors.Is(err, syscall.EHOSTUNREACH) {
		t.Errorf("a detached host is back: %v", err)
	}
}

func TestConfinedHostReachesItsOwnPrefixOnly(t *testing.T) {
	n := network.New()
	at := func(a string) network.Source { return network.Source{Address: netip.MustParseAddr(a)} }
	confined := greeter(t, n, "a", "10.40.0.5")
	greeter(t, n, "b", "10.40.0.6")
	greeter(t, n, "c", "10.41.0.7")
	confined.Confine(netip.MustParsePrefix("10.40.0.0/24"))
	greeted(t, n, at("10.40.0.6"), "10.40.0.5:50000")
	greeted(t, n, at("10.40.0.5"), "10.40.0.6:50000")
	n.Route("charts.example.com:443", "127.0.0.1:1")
	for _, to := range []string{"10.41.0.7:50000", "charts.example.com:443"} {
		if _, err := n.DialFrom(t.Context(), at("10.40.0.5"), "tcp", to); !errors.Is(err, syscall.EHOSTUNREACH) {
			t.Errorf("out to %s: %v", to, err)
		}
	}
	for _, from := range []network.Source{at("10.41.0.7"), network.Workstation()} {
		if _, err := n.DialFrom(t.Context(), from, "tcp", "10.40.0.5:50000"); !errors.Is(err, syscall.ETIMEDOUT) {
			t.Errorf("in from %v: %v", from.Address, err)
		}
	}
	confined.Confine(netip.Prefix{})
	greeted(t, n, network.Workstation(), "10.40.0.5:50000")
}

func TestAHostAnswersThoseThatItAdmits(t *testing.T) {
	n := network.New()
	h, err := n.Attach(netip.MustParseAddr("10.96.0.50"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Listen(6443); err != nil {
		t.Fatal(err)
	}
	inside := netip.MustParseAddr("10.0.0.5")
	h.Admit(func(from network.Source) bool { return from.Address == inside })
	for source, want := range map[network.Source]error{{Address: inside}: nil, {Address: netip.MustParseAddr("10.0.0.6")}: syscall.ETIMEDOUT, {}: syscall.ETIMEDOUT} {
		conn, err := n.DialFrom(t.Context(), source, "tcp", "10.96.0.50:6443")
		if !errors.Is(err, want) {
			t.Errorf("from %v: %v", source, err)
		}
		if err == nil {
			_ = conn.Close()
		}
	}
}
