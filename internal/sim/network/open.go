// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"net/netip"
)

// widest is the shortest prefix that may be opened: larger ones
// are not the subnet of machines.
const widest = 8

// Open routes the addresses of prefix to the real network, through this machine's own
// network, wherever no simulated host answers. All others stay as they are.
func (n *Network) Open(prefix netip.Prefix) error {
	if !prefix.IsValid() || prefix.Bits() < widest || !isHostAddress(prefix.Addr()) {
		return fmt.Errorf("open %v of the simulated network: not the prefix of a subnet", prefix)
	}
	defer n.changed.send()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open = append(n.open, prefix.Masked())
	return nil
}

func (n *Network) isOpen(addr netip.Addr) bool {
	for _, p := range n.open {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}
