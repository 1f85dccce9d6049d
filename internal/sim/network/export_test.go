// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"net"
)

// ReplaceDial has all real connections of the network made by dial.
func (n *Network) ReplaceDial(dial func(ctx context.Context, network, addr string) (net.Conn, error)) {
	n.dial = dial
}
