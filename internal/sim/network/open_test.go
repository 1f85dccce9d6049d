// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package network_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/butlerdotdev/butler/internal/sim/network"
)

// spy notes what a network really dials, and has all of it end at one place.
type spy struct {
	mu      sync.Mutex
	dialled []string
}

func watch(t *testing.T, n *network.Network) *spy {
	t.Helper()
	s, target := &spy{}, loopbackEcho(t)
	n.ReplaceDial(func(ctx context.Context, network, addr string) (net.Conn, error) {
		s.mu.Lock()
		s.dialled = append(s.dialled, addr)
		s.mu.Unlock()
		var d net.Dialer
		return d.DialContext(ctx, network, target)
	})
	return s
}

// seen returns what was dialled since the last call.
func (s *spy) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.dialled
	s.dialled = nil
	return seen
}

func TestOnlyOpenedPrefixesAreDialled(t *testing.T) {
	n := network.New()
	s := watch(t, n)
	if err := n.Open(netip.MustParsePrefix("10.5.0.0/24")); err != nil {
		t.Fatal(err)
	}
	machine := attach(t, n, "10.5.0.7") // powered on, and simulated no further
	go echo(listen(t, machine, 80))
	go echo(listen(t, attach(t, n, "10.40.0.10"), 50000))
	n.Name("api.example.com", addrs("10.5.0.100"))
	n.Name("elsewhere.example.com", addrs("192.0.2.1"))
	balance(t, n, "203.0.113.10:6443", addrs("192.0.2.1"), false)
	for way, d := range bothWays(t, n) {
		for _, tc := range []struct {
			at, dialled string
			err         error
		}{
			{at: "10.5.0.7:50000", dialled: "10.5.0.7:50000"},
			{at: "10.5.0.100:6443", dialled: "10.5.0.100:6443"},
			{at: "api.example.com:6443", dialled: "10.5.0.100:6443"},
			{at: "10.5.0.7:80"},
			{at: "10.40.0.10:50000"},
			{at: "10.5.1.7:50000", err: syscall.EHOSTUNREACH},
			{at: "192.0.2.1:443", err: syscall.EHOSTUNREACH},
			{at: "203.0.113.10:6443", err: syscall.ECONNREFUSED},
			{at: "elsewhere.example.com:443", err: syscall.EHOSTUNREACH},
			{at: "127.0.0.1:22", err: syscall.EHOSTUNREACH},
			{at: "[::1]:22", err: syscall.EHOSTUNREACH},
		} {
			if err := refusal(t, d, tc.at); !errors.Is(err, tc.err) || (err == nil) != (tc.err == nil) {
				t.Errorf("%s %s: %v, want %v", way, tc.at, err, tc.err)
			}
			var want []string
			if tc.dialled != "" {
				want = []string{tc.dialled}
			}
			if got := s.seen(); !slices.Equal(got, want) {
				t.Errorf("%s %s: dialled %v, want %v", way, tc.at, got, want)
			}
		}
	}
	if err := n.Await(t.Context(), "10.5.0.8:50000"); err != nil || !slices.Equal(s.seen(), []string{"10.5.0.8:50000"}) {
		t.Errorf("await a real address: %v", err)
	}
}

func TestPowerCutEndsRealConnections(t *testing.T) {
	n := network.New()
	watch(t, n)
	if err := n.Open(netip.MustParsePrefix("10.5.0.0/24")); err != nil {
		t.Fatal(err)
	}
	for way, d := range bothWays(t, n) {
		machine := attach(t, n, "10.5.0.7")
		conn, err := d(t.Context(), "tcp", "10.5.0.7:50000")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := exchange(conn, "up"); err != nil {
			t.Fatal(err)
		}
		machine.Detach()
		if _, err := exchange(conn, "still there?"); err == nil {
			t.Errorf("%s: the connection lives on", way)
		}
		_ = conn.Close()
	}
}

func TestRealMachineThatIsOffIsUnreachable(t *testing.T) {
	n := network.New()
	if err := n.Open(netip.MustParsePrefix("10.5.0.0/24")); err != nil {
		t.Fatal(err)
	}
	through := network.Dialer(serveSOCKS(t, n))
	for _, silence := range []error{context.DeadlineExceeded, os.ErrDeadlineExceeded, syscall.ETIMEDOUT, syscall.ENETUNREACH} {
		n.ReplaceDial(func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: silence}
		})
		if _, err := through(t.Context(), "tcp", "10.5.0.7:50000"); !errors.Is(err, syscall.EHOSTUNREACH) {
			t.Errorf("%v is reported as %v", silence, err)
		}
	}
}

func TestOnlySubnetsOpen(t *testing.T) {
	for _, prefix := range []netip.Prefix{
		{}, netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("8.0.0.0/7"), netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"),
	} {
		if err := network.New().Open(prefix); err == nil {
			t.Errorf("%v was opened", prefix)
		}
	}
}
