// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package front

import (
	"fmt"
	"net"
	"os"

	"github.com/butlerdotdev/butler/internal/plane"
)

// Listen listens on loopback, at the address that the file holds from the last start
// if that is free: credentials that were handed out name it.
func Listen(file string) (net.Listener, error) {
	last, err := os.ReadFile(file)
	if err != nil {
		last = []byte("127.0.0.1:0")
	}
	l, err := net.Listen("tcp4", string(last))
	if err != nil {
		l, err = net.Listen("tcp4", "127.0.0.1:0")
	}
	if err != nil {
		return nil, fmt.Errorf("listen on loopback: %w", err)
	}
	return l, plane.WriteFile(file, []byte(l.Addr().String()))
}
