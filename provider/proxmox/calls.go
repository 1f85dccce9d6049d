// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import "sync"

// calls are those that are under way, by the VM that they work on.
type calls struct {
	mu sync.Mutex
	of map[number]int
}

// begin notes a call until end is called.
func (c *calls) begin(vmid number) (end func()) {
	c.add(vmid, 1)
	return func() { c.add(vmid, -1) }
}

func (c *calls) add(vmid number, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of[vmid] += n; c.of[vmid] == 0 {
		delete(c.of, vmid)
	}
}

// has reports whether a call works on a VM.
func (c *calls) has(vmid number) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[vmid] > 0
}
