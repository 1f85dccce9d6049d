// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package network_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/network"
)

func attach(t *testing.T, n *network.Network, addr string) *network.Host {
	t.Helper()
	h, err := n.Attach(netip.MustParseAddr(addr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Detach)
	return h
}

func listen(t *testing.T, h *network.Host, port uint16) net.Listener {
	t.Helper()
	l, err := h.Listen(port)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// echo answers every connection with what it sends, until l is closed.
func echo(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			_, _ = io.Copy(conn, conn)
		}()
	}
}

func loopbackEcho(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go echo(l)
	return l.Addr().String()
}

func exchange(conn net.Conn, text string) (string, error) {
	if _, err := io.WriteString(conn, text); err != nil {
		return "", err
	}
	answer := make([]byte, len(text))
	_, err := io.ReadFull(conn, answer)
	return string(answer), err
}

// dial is either way into a network: in this process, or through SOCKS.
type dial func(ctx context.Context, network, addr string) (net.Conn, error)

func bothWays(t *testing.T, n *network.Network) map[string]dial {
	t.Helper()
	return map[string]dial{"direct": n.Dial, "socks": network.Dialer(serveSOCKS(t, n))}
}

func TestReachesWhatIsThere(t *testing.T) {
	n := network.New()
	host := attach(t, n, "10.40.0.10")
	six := attach(t, n, "fd00::10")
	go echo(listen(t, host, 50000))
	go echo(listen(t, six, 50000))
	target := loopbackEcho(t)
	host.Forward(6443, target)
	n.Route("harvester.example.com:6443", target)
	n.Route("192.0.2.7:443", target)
	for way, dial := range bothWays(t, n) {
		for _, addr := range []string{
			"10.40.0.10:50000", "[fd00::10]:50000", "[::ffff:10.40.0.10]:50000", "10.40.0.10:6443",
			"harvester.example.com:6443", "Harvester.Example.com.:6443", "192.0.2.7:443",
		} {
			t.Run(way+" "+addr, func(t *testing.T) {
				conn, err := dial(t.Context(), "tcp", addr)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				if got, err := exchange(conn, "hello"); err != nil || got != "hello" {
					t.Errorf("got %q, %v", got, err)
				}
			})
		}
	}
}

func TestFailsAsANetworkDoes(t *testing.T) {
	n := network.New()
	host := attach(t, n, "10.40.0.10")
	host.Forward(1, loopbackEcho(t))
	host.Forward(1, "")
	host.Forward(2, "192.0.2.1:443")
	n.Route("api.example.com:6443", loopbackEcho(t))
	n.Route("old.example.com:443", loopbackEcho(t))
	n.Route("old.example.com:443", "")
	gone := attach(t, n, "10.40.0.11")
	go echo(listen(t, gone, 50000))
	gone.Detach()
	shut := listen(t, host, 3)
	_ = shut.Close()

	tests := map[string]struct {
		addr string
		want error
	}{
		"unknown address":           {"10.40.0.99:50000", syscall.EHOSTUNREACH},
		"real address":              {"1.1.1.1:443", syscall.EHOSTUNREACH},
		"loopback address":          {"127.0.0.1:22", syscall.EHOSTUNREACH},
		"closed port":               {"10.40.0.10:50000", syscall.ECONNREFUSED},
		"ended forward":             {"10.40.0.10:1", syscall.ECONNREFUSED},
		"closed listener":           {"10.40.0.10:3", syscall.ECONNREFUSED},
		"closed port of a route":    {"api.example.com:80", syscall.ECONNREFUSED},
		"detached host":             {"10.40.0.11:50000", syscall.EHOSTUNREACH},
		"unknown name":              {"github.com:443", nil},
		"ended route":               {"old.example.com:443", nil},
		"localhost":                 {"localhost:22", nil},
		"forward out of loopback":   {"10.40.0.10:2", nil},
		"port that is not a number": {"10.40.0.10:https", nil},
	}
	for way, dial := range bothWays(t, n) {
		for name, tt := range tests {
			t.Run(way+" "+name, func(t *testing.T) {
				conn, err := dial(t.Context(), "tcp", tt.addr)
				if err == nil {
					_ = conn.Close()
					t.Fatalf("%s was reached", tt.addr)
				}
				if tt.want != nil && !errors.Is(err, tt.want) {
					t.Errorf("got %v, want %v", err, tt.want)
				}
			})
		}
	}
}

func TestUnknownNameIsADNSError(t *testing.T) {
	_, err := network.New().Dial(t.Context(), "tcp", "github.com:443")
	var dns *net.DNSError
	if !errors.As(err, &dns) || !dns.IsNotFound {
		t.Errorf("got %v", err)
	}
}

func TestOnlyTCP(t *testing.T) {
	n := network.New()
	for way, dial := range bothWays(t, n) {
		var unknown net.UnknownNetworkError
		if _, err := dial(t.Context(), "udp", "10.0.0.1:53"); !errors.As(err, &unknown) {
			t.Errorf("%s: got %v", way, err)
		}
	}
}

func TestAddressBelongsToOneHostAtATime(t *testing.T) {
	n := network.New()
	first := attach(t, n, "10.40.0.5")
	if _, err := n.Attach(netip.MustParseAddr("::ffff:10.40.0.5")); err == nil {
		t.Error("the address was given twice")
	}
	first.Detach()
	second := attach(t, n, "10.40.0.5")
	go echo(listen(t, second, 80))
	first.Detach()
	if conn, err := n.Dial(t.Context(), "tcp", "10.40.0.5:80"); err != nil {
		t.Errorf("a second detach of the old host took the new one down: %v", err)
	} else {
		_ = conn.Close()
	}
	if _, err := first.Listen(81); err == nil {
		t.Error("a detached host listens")
	}
}

func TestOnlyHostAddressesAttach(t *testing.T) {
	for _, addr := range []netip.Addr{{}, netip.MustParseAddr("0.0.0.0"), netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("224.0.0.1")} {
		if _, err := network.New().Attach(addr); err == nil {
			t.Errorf("%v was attached", addr)
		}
	}
}

func TestPortIsOpenedOnce(t *testing.T) {
	host := attach(t, network.New(), "10.40.0.5")
	l := listen(t, host, 80)
	if _, err := host.Listen(80); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("got %v", err)
	}
	_ = l.Close()
	listen(t, host, 80)
	a, b := listen(t, host, 0), listen(t, host, 0)
	if a.Addr().String() == b.Addr().String() {
		t.Errorf("two listeners on %v", a.Addr())
	}
}

func TestDetachEndsLiveConnections(t *testing.T) {
	n := network.New()
	host := attach(t, n, "10.40.0.5")
	l := listen(t, host, 80)
	go echo(l)
	host.Forward(81, loopbackEcho(t))
	var conns []net.Conn
	for _, dial := range bothWays(t, n) {
		for _, addr := range []string{"10.40.0.5:80", "10.40.0.5:81"} {
			conn, err := dial(t.Context(), "tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := exchange(conn, "up"); err != nil {
				t.Fatal(err)
			}
			conns = append(conns, conn)
		}
	}
	host.Detach()
	for i, conn := range conns {
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("connection %d lives on: %v", i, err)
		}
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept after detach: %v", err)
	}
}

func TestConnectionsShowSimulatedAddresses(t *testing.T) {
	n := network.New()
	l := listen(t, attach(t, n, "10.40.0.5"), 80)
	for way, dial := range bothWays(t, n) {
		conn, err := dial(t.Context(), "tcp", "10.40.0.5:80")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		if server.LocalAddr().String() != "10.40.0.5:80" || server.RemoteAddr().String() == "" {
			t.Errorf("%s: %v from %v", way, server.LocalAddr(), server.RemoteAddr())
		}
	}
}

func TestMemoryConnectionBehavesAsASocket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := network.New()
		l := listen(t, attach(t, n, "10.40.0.5"), 80)
		client, err := n.Dial(t.Context(), "tcp", "10.40.0.5:80")
		if err != nil {
			t.Fatal(err)
		}
		server, _ := l.Accept()

		// Both may write before either reads.
		for _, conn := range []net.Conn{client, server} {
			if _, err := io.WriteString(conn, "first"); err != nil {
				t.Fatal(err)
			}
		}
		_ = server.SetReadDeadline(time.Now().Add(time.Second))
		buf := make([]byte, 16)
		if got, err := server.Read(buf); err != nil || string(buf[:got]) != "first" {
			t.Errorf("read %q, %v", buf[:got], err)
		}
		if _, err := server.Read(buf); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read past the deadline: %v", err)
		}

		// A writer without a reader waits, and its deadline ends the wait.
		_ = client.SetWriteDeadline(time.Now().Add(time.Second))
		if n, err := client.Write(make([]byte, 1<<20)); !errors.Is(err, os.ErrDeadlineExceeded) || n == 0 {
			t.Errorf("wrote %d, %v", n, err)
		}

		// A half-closed connection still carries the other direction.
		if err := client.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		_ = server.SetReadDeadline(time.Time{})
		if _, err := io.Copy(io.Discard, server); err != nil {
			t.Errorf("read to the end: %v", err)
		}
		if _, err := io.WriteString(server, "last"); err != nil {
			t.Errorf("write after the far end's half-close: %v", err)
		}
		_ = server.Close()
		if rest, err := io.ReadAll(client); err != nil || string(rest) != "firstlast" {
			t.Errorf("read %q, %v", rest, err)
		}
		_ = client.Close()
		if _, err := client.Read(buf); !errors.Is(err, net.ErrClosed) {
			t.Errorf("read after close: %v", err)
		}
		if _, err := client.Write(buf); !errors.Is(err, net.ErrClosed) {
			t.Errorf("write after close: %v", err)
		}
	})
}

func TestDialWaitsForAFullBacklogUntilCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := network.New()
		listen(t, attach(t, n, "10.40.0.5"), 80)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var err error
		for err == nil {
			_, err = n.Dial(ctx, "tcp", "10.40.0.5:80")
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}
