// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package network_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/network"
)

func addrs(texts ...string) func() []netip.Addr {
	return func() (all []netip.Addr) {
		for _, text := range texts {
			all = append(all, netip.MustParseAddr(text))
		}
		return all
	}
}

// samePort returns targets at the port of a balancer.
func samePort(at string, targets func() []netip.Addr) func() []netip.AddrPort {
	_, text, _ := strings.Cut(at, ":")
	port, _ := strconv.ParseUint(text, 10, 16)
	return func() (all []netip.AddrPort) {
		for _, addr := range targets() {
			all = append(all, netip.AddrPortFrom(addr, uint16(port)))
		}
		return all
	}
}

func balance(t *testing.T, n *network.Network, at string, targets func() []netip.Addr, passthrough bool) (stop func()) {
	t.Helper()
	stop, err := n.Balance(at, samePort(at, targets), passthrough)
	if err != nil {
		t.Fatal(err)
	}
	return stop
}

// refusal is how a dial fails; nil if it does not.
func refusal(t *testing.T, d dial, hostport string) error {
	t.Helper()
	conn, err := d(t.Context(), "tcp", hostport)
	if err == nil {
		_ = conn.Close()
	}
	return err
}

func TestBalancerReachesTheTargetThatIsOpen(t *testing.T) {
	n := network.New()
	first, second := attach(t, n, "10.40.0.11"), attach(t, n, "10.40.0.12")
	stop := balance(t, n, "203.0.113.10:6443", addrs("10.40.0.10", "10.40.0.11", "10.40.0.12"), false)
	balance(t, n, "lb.example.com:6443", addrs("10.40.0.12"), false)
	ways := bothWays(t, n)
	for way, d := range ways {
		if err := refusal(t, d, "203.0.113.10:6443"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("%s, no port open: %v", way, err)
		}
	}
	second.Forward(6443, loopbackEcho(t))
	for way, d := range ways {
		for _, at := range []string{"203.0.113.10:6443", "lb.example.com:6443"} {
			if err := refusal(t, d, at); err != nil {
				t.Errorf("%s, %s: %v", way, at, err)
			}
		}
		if err := refusal(t, d, "203.0.113.10:443"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("%s, another port: %v", way, err)
		}
	}
	first.Forward(6443, loopbackEcho(t))
	second.Detach()
	if err := refusal(t, n.Dial, "203.0.113.10:6443"); err != nil {
		t.Errorf("the balancer went with a target: %v", err)
	}
	stop()
	if err := refusal(t, n.Dial, "203.0.113.10:6443"); !errors.Is(err, syscall.EHOSTUNREACH) {
		t.Errorf("stopped: %v", err)
	}
}

func TestPassthroughNeedsTheAddressOnTheTarget(t *testing.T) {
	n := network.New()
	host := attach(t, n, "10.40.0.11")
	host.Forward(6443, loopbackEcho(t))
	balance(t, n, "203.0.113.10:6443", addrs("10.40.0.11"), true)
	if err := refusal(t, n.Dial, "203.0.113.10:6443"); !errors.Is(err, syscall.ETIMEDOUT) {
		t.Errorf("without the alias: %v", err)
	}
	drop := host.Alias(netip.MustParseAddr("203.0.113.10"))
	again := host.Alias(netip.MustParseAddr("203.0.113.10"))
	for way, d := range bothWays(t, n) {
		if err := refusal(t, d, "203.0.113.10:6443"); err != nil {
			t.Errorf("%s, with the alias: %v", way, err)
		}
	}
	drop()
	drop()
	if err := refusal(t, n.Dial, "203.0.113.10:6443"); err != nil {
		t.Errorf("an alias that two hold went with the first: %v", err)
	}
	again()
	if err := refusal(t, n.Dial, "203.0.113.10:6443"); !errors.Is(err, syscall.ETIMEDOUT) {
		t.Errorf("after the alias: %v", err)
	}
}

// TestHostReachesItselfAtItsAlias is the other side of an address on the loopback interface:
// packets to it do not leave the host, whatever is behind the balancer.
func TestHostReachesItselfAtItsAlias(t *testing.T) {
	n := network.New()
	vip := netip.MustParseAddr("203.0.113.10")
	first, second := attach(t, n, "10.40.0.11"), attach(t, n, "10.40.0.12")
	first.Forward(6443, loopbackEcho(t))
	first.Alias(vip)
	balance(t, n, "203.0.113.10:6443", addrs("10.40.0.11"), true)
	from := func(address string) dial {
		return func(ctx context.Context, protocol, hostport string) (net.Conn, error) {
			return n.DialFrom(ctx, network.Source{Address: netip.MustParseAddr(address)}, protocol, hostport)
		}
	}
	for _, address := range []string{"10.40.0.11", "10.40.0.12"} {
		if err := refusal(t, from(address), "203.0.113.10:6443"); err != nil {
			t.Errorf("from %s: %v", address, err)
		}
	}
	drop := second.Alias(vip)
	if err := refusal(t, from("10.40.0.12"), "203.0.113.10:6443"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("from a host that has the alias and no open port: %v", err)
	}
	second.Forward(6443, loopbackEcho(t))
	first.Detach()
	if err := refusal(t, from("10.40.0.12"), "203.0.113.10:6443"); err != nil {
		t.Errorf("to itself: %v", err)
	}
	drop()
	if err := refusal(t, from("10.40.0.12"), "203.0.113.10:6443"); !errors.Is(err, syscall.ETIMEDOUT) {
		t.Errorf("through a balancer without a target: %v", err)
	}
}

func TestSilentBalancerLosesWhatHasNoTarget(t *testing.T) {
	n := network.New()
	stop, err := n.AddBalancer("203.0.113.10:6443", network.Balancer{Silent: true, Targets: samePort("x:6443", addrs())})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if err := refusal(t, n.Dial, "203.0.113.10:6443"); !errors.Is(err, syscall.ETIMEDOUT) {
		t.Errorf("got %v", err)
	}
}

func TestAliasIsNoAddressOfTheNetwork(t *testing.T) {
	n := network.New()
	host := attach(t, n, "10.40.0.11")
	host.Forward(6443, loopbackEcho(t))
	host.Alias(netip.MustParseAddr("203.0.113.10"))
	if err := refusal(t, n.Dial, "203.0.113.10:6443"); !errors.Is(err, syscall.EHOSTUNREACH) {
		t.Errorf("got %v", err)
	}
}

func TestBalancerRefusals(t *testing.T) {
	n := network.New()
	attach(t, n, "10.40.0.11")
	balance(t, n, "203.0.113.10:6443", addrs(), false)
	for reason, tc := range map[string]struct {
		at          string
		passthrough bool
	}{
		"the address of a host":          {at: "10.40.0.11:6443"},
		"balanced already":               {at: "203.0.113.10:6443"},
		"no port":                        {at: "203.0.113.10"},
		"passed through without address": {at: "lb.example.com:6443", passthrough: true},
	} {
		if _, err := n.Balance(tc.at, samePort("x:1", addrs()), tc.passthrough); err == nil {
			t.Errorf("%s: balanced", reason)
		}
	}
	if _, err := n.Attach(netip.MustParseAddr("203.0.113.10")); err == nil {
		t.Error("a host took the address of a balancer")
	}
}

func TestNameResolvesToTheAddressThatAnswers(t *testing.T) {
	n := network.New()
	host := attach(t, n, "10.40.0.12")
	first := n.Name("api.example.com", addrs("10.40.0.11"))
	second := n.Name("API.example.com.", addrs("10.40.0.12"))
	if err := refusal(t, n.Dial, "api.example.com:6443"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("no port open: %v", err)
	}
	host.Forward(6443, loopbackEcho(t))
	for way, d := range bothWays(t, n) {
		if err := refusal(t, d, "Api.Example.com:6443"); err != nil {
			t.Errorf("%s: %v", way, err)
		}
	}
	second()
	if err := refusal(t, n.Dial, "api.example.com:6443"); !errors.Is(err, syscall.EHOSTUNREACH) {
		t.Errorf("only the dead address is left: %v", err)
	}
	first()
	var unknown *net.DNSError
	if err := refusal(t, n.Dial, "api.example.com:6443"); !errors.As(err, &unknown) {
		t.Errorf("forgotten: %v", err)
	}
}

func TestAwaitSeesEveryWayToAnswer(t *testing.T) {
	addr := netip.MustParseAddr("10.40.0.11")
	for way, open := range map[string]func(*testing.T, *network.Network){
		"listener": func(t *testing.T, n *network.Network) { listen(t, attach(t, n, "10.40.0.11"), 6443) },
		"forward":  func(t *testing.T, n *network.Network) { attach(t, n, "10.40.0.11").Forward(6443, "127.0.0.1:1") },
		"route":    func(_ *testing.T, n *network.Network) { n.Route("10.40.0.11:6443", "127.0.0.1:1") },
		"reserved host": func(t *testing.T, n *network.Network) {
			h, err := n.Reserve(addr)
			if err != nil {
				t.Fatal(err)
			}
			h.Forward(6443, "127.0.0.1:1")
			if err := refusal(t, n.Dial, "10.40.0.11:6443"); !errors.Is(err, syscall.EHOSTUNREACH) {
				t.Errorf("a host that is not up: %v", err)
			}
			h.Up()
		},
		"balancer": func(t *testing.T, n *network.Network) {
			attach(t, n, "10.40.0.12").Forward(6443, "127.0.0.1:1")
			balance(t, n, "10.40.0.11:6443", addrs("10.40.0.12"), false)
		},
		"target that came later": func(t *testing.T, n *network.Network) {
			attach(t, n, "10.40.0.12").Forward(6443, "127.0.0.1:1")
			var there atomic.Bool
			balance(t, n, "10.40.0.11:6443", func() []netip.Addr {
				if there.Load() {
					return addrs("10.40.0.12")()
				}
				return nil
			}, false)
			synctest.Wait()
			there.Store(true)
		},
	} {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := network.New()
				answered := make(chan error, 1)
				go func() { answered <- n.Await(t.Context(), "10.40.0.11:6443") }()
				synctest.Wait()
				select {
				case err := <-answered:
					t.Fatalf("answered without a host: %v", err)
				default:
				}
				open(t, n)
				if err := <-answered; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := network.New().Await(ctx, "10.40.0.11:6443"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestClaimWaitsForTheAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := network.New()
		addr := netip.MustParseAddr("10.40.0.100")
		first := attach(t, n, "10.40.0.100")
		claimed := make(chan error, 1)
		go func() {
			h, err := n.Claim(t.Context(), addr)
			if err == nil {
				defer h.Detach()
			}
			claimed <- err
		}()
		synctest.Wait()
		first.Down()
		synctest.Wait()
		select {
		case <-claimed:
			t.Fatal("claimed an address that is held")
		default:
		}
		first.Detach()
		if err := <-claimed; err != nil {
			t.Error(err)
		}
		attach(t, n, "10.40.0.100")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := n.Claim(ctx, addr); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if _, err := n.Claim(t.Context(), netip.MustParseAddr("127.0.0.1")); err == nil {
			t.Error("claimed a loopback address")
		}
	})
}

func TestHostThatWentDownIsSilent(t *testing.T) {
	n := network.New()
	host := attach(t, n, "10.40.0.5")
	host.Forward(81, loopbackEcho(t))
	conn, err := n.Dial(t.Context(), "tcp", "10.40.0.5:81")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	host.Down()
	if _, err := exchange(conn, "still there?"); err == nil {
		t.Error("a connection lives on")
	}
	if err := refusal(t, n.Dial, "10.40.0.5:81"); !errors.Is(err, syscall.EHOSTUNREACH) {
		t.Errorf("got %v", err)
	}
	host.Up()
	if err := refusal(t, n.Dial, "10.40.0.5:81"); err != nil {
		t.Errorf("up again: %v", err)
	}
}
