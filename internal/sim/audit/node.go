// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"net/netip"
	"slices"
)

// PoweredOn records each machine that is switched on, with the address that it
// has then, or wants; also one that changes its address.
func (a *Auditor) PoweredOn(id, name string, address netip.Addr) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	address = address.Unmap()
	if slices.Contains(a.options.Shared, address) || a.shared[address] > 0 {
		a.reportShared(id, name, address)
	}
	for other, taken := range a.addresses {
		if other != id && taken == address {
			a.report(OneAddress, "machine %s (%s) takes %s, which %s (%s) has", name, id, address, a.machines[other], other)
		}
	}
	a.addresses[id], a.machines[id] = address, name
}

// Shares records that a node shares an address with others of its cluster, whichever of them
// has it, until end is called.
func (a *Auditor) Shares(address netip.Addr) (end func()) {
	if a == nil {
		return func() {}
	}
	address = address.Unmap()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.shared[address]++
	for id, taken := range a.addresses {
		if taken == address {
			a.reportShared(id, a.machines[id], address)
		}
	}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.shared[address]--
	}
}

// reportShared is called under lock.
func (a *Auditor) reportShared(id, name string, address netip.Addr) {
	a.report(OneAddress, "machine %s (%s) takes %s for itself, which its cluster shares", name, id, address)
}

// PoweredOff records each machine that is off again, for whatever reason.
func (a *Auditor) PoweredOff(id string) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.addresses, id)
	delete(a.machines, id)
}

// Bootstrapped records each etcd that was bootstrapped. It may be called repeatedly.
func (a *Auditor) Bootstrapped(clusterID, member, machine string) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	b := bootstrap{Member: member, Machine: machine}
	all := a.kept.Bootstraps[clusterID]
	if slices.Contains(all, b) {
		return
	}
	a.kept.Bootstraps[clusterID] = append(all, b)
	a.keep()
	if len(all) > 0 {
		a.report(OneBootstrap, "etcd of cluster %s was bootstrapped on %s (member %s), and before on %s (member %s)",
			clusterID, machine, member, all[len(all)-1].Machine, all[len(all)-1].Member)
	}
}
