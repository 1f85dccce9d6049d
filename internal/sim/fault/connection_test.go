// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package fault_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// echo serves connections that return every byte.
func echo(t *testing.T, c *fault.Injector) net.Listener {
	t.Helper()
	plain, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := c.Listen(plain)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			}()
		}
	}()
	return l
}

func dial(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// answered sends a byte and reads the one that comes back.
func answered(conn net.Conn, within time.Duration) error {
	if _, err := conn.Write([]byte("x")); err != nil {
		return err
	}
	return read(conn, within)
}

func read(conn net.Conn, within time.Duration) error {
	_ = conn.SetReadDeadline(time.Now().Add(within))
	_, err := io.ReadFull(conn, make([]byte, 1))
	return err
}

func TestConnectionsHangUntilTheFaultIsOver(t *testing.T) {
	c := fault.NewInjector(fault.Plan{})
	l := echo(t, c)
	open := dial(t, l)
	if err := answered(open, time.Minute); err != nil {
		t.Fatal(err)
	}
	c.Replace(fault.Plan{Faults: []fault.Fault{{Kind: fault.Hang}}})
	if idle := c.Tallies()[0].Idle(); len(idle) != 1 {
		t.Error("the fault counts before a client has sent something")
	}
	opened := dial(t, l)
	for name, conn := range map[string]net.Conn{"open": open, "new": opened} {
		if err := answered(conn, 100*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the %s connection: %v", name, err)
		}
	}
	if idle := c.Tallies()[0].Idle(); len(idle) != 0 {
		t.Error("the fault does not count")
	}
	c.Replace(fault.Plan{})
	for name, conn := range map[string]net.Conn{"open": open, "new": opened} {
		if err := read(conn, time.Minute); err != nil {
			t.Errorf("the %s connection stays silent: %v", name, err)
		}
	}
}

func TestAListenerThatHangsCanBeClosed(t *testing.T) {
	c := fault.NewInjector(fault.Plan{Faults: []fault.Fault{{Kind: fault.Hang}}})
	l := echo(t, c)
	conn := dial(t, l)
	if err := answered(conn, 100*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("it does not hang: %v", err)
	}
	_ = l.Close()
	if err := read(conn, time.Minute); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection is not closed: %v", err)
	}
}

func TestConnectionsAreCutWhenAnotherPlatformAnswers(t *testing.T) {
	c := fault.NewInjector(fault.Plan{})
	l := echo(t, c)
	for _, plan := range []fault.Plan{{Faults: []fault.Fault{{Kind: fault.SecondPlatform}}}, {}} {
		conn := dial(t, l)
		if err := answered(conn, time.Minute); err != nil {
			t.Fatal(err)
		}
		c.Replace(plan)
		if err := read(conn, time.Minute); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("with %v the connection stays: %v", plan, err)
		}
	}
}

// TestConnectionsToTheNewPlatformAreKept: those that are opened at once must not be cut
// together with those to the platform before.
func TestConnectionsToTheNewPlatformAreKept(t *testing.T) {
	c := fault.NewInjector(fault.Plan{})
	l := echo(t, c)
	for range 20 {
		for _, plan := range []fault.Plan{{Faults: []fault.Fault{{Kind: fault.SecondPlatform}}}, {}} {
			before := dial(t, l)
			if err := answered(before, time.Minute); err != nil {
				t.Fatal(err)
			}
			c.Replace(plan)
			now := dial(t, l)
			if err := answered(now, time.Minute); err != nil {
				t.Fatal(err)
			}
			_ = read(before, time.Minute) // the cut has happened
			if err := answered(now, time.Minute); err != nil {
				t.Fatalf("with %v a new connection is cut: %v", plan, err)
			}
		}
	}
}

func TestAnotherPlatformAnswersUntilTheFaultIsOver(t *testing.T) {
	c := fault.NewInjector(fault.Plan{Faults: []fault.Fault{{Kind: fault.SecondPlatform}}})
	api := plain()
	api.Second = says("second")
	h := c.Handler(api, says("first"))
	for _, verb := range []fault.Verb{fault.Get, fault.List, fault.Watch, fault.Create, fault.Delete} {
		if got := ask(h, verb).Body.String(); got != "second" {
			t.Errorf("%s is answered by the %s", verb, got)
		}
	}
	c.Replace(fault.Plan{})
	if got := ask(h, fault.Get).Body.String(); got != "first" {
		t.Errorf("then by the %s", got)
	}
}

func says(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
}
