// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"net/netip"
	"slices"
)

// Acquire sets addr as the only address of the host. It fails while another host has it.
func (h *Host) Acquire(addr netip.Addr) error {
	addr = addr.Unmap()
	if !isHostAddress(addr) {
		return fmt.Errorf("attach %v to the simulated network: not the address of a host", addr)
	}
	if !h.acquire(addr) {
		return fmt.Errorf("attach %v to the simulated network: the address is taken", addr)
	}
	h.network.changed.send() // not in vain: those who wait for the address would never rest
	return nil
}

func (h *Host) acquire(addr netip.Addr) bool {
	n := h.network
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.taken(addr) && !slices.Contains(n.hosts[addr], h) {
		return false
	}
	h.bind(addr)
	return true
}

// Bind replaces the addresses of the host by those that its guest is configured with,
// also by those of others: nothing on a network prevents it. Of two hosts with one IPv4 address
// each is reached now and then. An IPv6 address that another host has is not used: hosts
// ask for it first.
func (h *Host) Bind(addrs ...netip.Addr) {
	n := h.network
	defer n.changed.send()
	n.mu.Lock()
	defer n.mu.Unlock()
	var own []netip.Addr
	for _, addr := range addrs {
		addr = addr.Unmap()
		duplicate := addr.Is6() && n.taken(addr) && !slices.Contains(n.hosts[addr], h)
		if isHostAddress(addr) && !duplicate {
			own = append(own, addr)
		}
	}
	h.bind(own...)
}

// bind is called with the lock of the network held. A host that was detached stays so.
func (h *Host) bind(addrs ...netip.Addr) {
	h.leave()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.detached {
		return
	}
	h.own, h.addr = addrs, netip.Addr{}
	for _, addr := range addrs {
		h.network.hosts[addr] = append(h.network.hosts[addr], h)
	}
	if len(addrs) > 0 {
		h.addr = addrs[0]
	}
}

// leave gives the addresses of the host free. It is called with the lock of the network held.
func (h *Host) leave() {
	n := h.network
	for _, addr := range h.own {
		others := slices.DeleteFunc(slices.Clone(n.hosts[addr]), func(o *Host) bool { return o == h })
		if n.hosts[addr] = others; len(others) == 0 {
			delete(n.hosts, addr)
			delete(n.turns, addr)
		}
	}
	h.own = nil
}

// answering returns the host that gets the next connection to addr; nil: none has the
// address. Of several they take turns, and a connection to one ends those to the others, as
// packets follow the last answer to ARP. It is called under lock.
func (n *Network) answering(addr netip.Addr) *Host {
	all := n.hosts[addr]
	up := slices.DeleteFunc(slices.Clone(all), func(h *Host) bool { return !h.isUp() })
	switch {
	case len(all) == 0:
		return nil
	case len(up) == 0:
		return all[0]
	case len(up) == 1:
		return up[0]
	}
	n.turns[addr]++
	next := up[n.turns[addr]%len(up)]
	for _, h := range up {
		if h != next {
			h.cut(func(*hostConn) bool { return true })
		}
	}
	return next
}

// InConflict reports whether more than one host that is up has the address.
func (n *Network) InConflict(addr netip.Addr) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	up := 0
	for _, h := range n.hosts[addr.Unmap()] {
		if h.isUp() {
			up++
		}
	}
	return up > 1
}

func (h *Host) isUp() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.up
}

// Confine limits the host to the addresses of a prefix, and answer those alone, as
// one whose gateway is wrong. A zero prefix ends that.
func (h *Host) Confine(prefix netip.Prefix) {
	n := h.network
	defer n.changed.send()
	n.mu.Lock()
	defer n.mu.Unlock()
	h.confined = prefix
}

// IsConfined reports whether the host reaches the addresses of a prefix alone.
func (h *Host) IsConfined() bool {
	h.network.mu.Lock()
	defer h.network.mu.Unlock()
	return h.confined.IsValid()
}

// isStranded reports whether a source does not get out to a destination, zero for one that is
// known by a name. It is called under lock.
func (n *Network) isStranded(from Source, to netip.Addr) bool {
	if from.Outside {
		return false
	}
	return slices.ContainsFunc(n.hosts[from.Address.Unmap()], func(h *Host) bool {
		return h.confined.IsValid() && !h.confined.Contains(to.Unmap())
	})
}

// Admit has the host answer those sources alone for which admits returns true; what others send
// is lost. It must not call the network.
func (h *Host) Admit(admits func(Source) bool) {
	n := h.network
	defer n.changed.send()
	n.mu.Lock()
	defer n.mu.Unlock()
	h.admits = admits
}

// strands reports whether the host's answers to a source do not arrive. It is called with the
// lock of the network held.
func (h *Host) strands(from Source) bool {
	if h.admits != nil && !h.admits(from) {
		return true
	}
	return h.confined.IsValid() && from.Address.IsValid() && !h.confined.Contains(from.Address.Unmap())
}
