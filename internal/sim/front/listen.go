// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package front

import (
	"fmt"
	"net"
	"net/netip"
	"os"

	"github.com/butlerdotdev/butler/internal/plane"
)

// loopback is where everything is served that no one else is to reach.
var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// Listen listens on loopback, at the address that the file holds from the last start
// if that is free: credentials that were handed out name it.
func Listen(file string) (net.Listener, error) { return listenAt(loopback, file) }

// listenAt is Listen at an address of this machine. One of the file that is another is
// not used.
func listenAt(address netip.Addr, file string) (net.Listener, error) {
	unused := netip.AddrPortFrom(address, 0)
	last, err := netip.ParseAddrPort(read(file))
	if err != nil || last.Addr() != address {
		last = unused
	}
	l, err := net.Listen("tcp", last.String())
	if err != nil {
		l, err = net.Listen("tcp", unused.String())
	}
	if err != nil {
		return nil, fmt.Errorf("serve the simulated platform at %s: %w", address, err)
	}
	return l, plane.WriteFile(file, []byte(l.Addr().String()))
}

// read returns the content of a file; empty without one.
func read(file string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return string(data)
}
