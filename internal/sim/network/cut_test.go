// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package network_test

import (
	"io"
	"net/netip"
	"testing"

	"github.com/butlerdotdev/butler/internal/sim/network"
)

// TestCutEndsTheConnectionsOfOnePort: those of others stay open.
func TestCutEndsTheConnectionsOfOnePort(t *testing.T) {
	n := network.New()
	host, err := n.Attach(netip.MustParseAddr("10.0.0.1"))
	if err != nil {
		t.Fatal(err)
	}
	dial := func(port uint16, address string) (near, far io.ReadWriteCloser) {
		l, err := host.Listen(port)
		if err != nil {
			t.Fatal(err)
		}
		if near, err = n.Dial(t.Context(), "tcp", address); err != nil {
			t.Fatal(err)
		}
		if far, err = l.Accept(); err != nil {
			t.Fatal(err)
		}
		return near, far
	}
	cut, _ := dial(1, "10.0.0.1:1")
	kept, far := dial(2, "10.0.0.1:2")
	host.Cut(1)
	if n, err := cut.Read(make([]byte, 1)); err == nil {
		t.Errorf("the connection stays open: %d", n)
	}
	if _, err := kept.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if n, err := far.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("the other connection does not stay open: %d, %v", n, err)
	}
}
