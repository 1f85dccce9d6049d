// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import "github.com/butlerdotdev/butler/provider"

// survivesDrain demands that a machine whose host is drained runs again by itself, as
// the same machine.
func survivesDrain(t *trial) {
	s := t.spec()
	t.create(s)
	before := t.await(s.MachineRef, provider.StateRunning)
	lift := t.inject(Drained)
	lift()
	after := t.await(s.MachineRef, provider.StateRunning)
	if after.ID != before.ID {
		t.errorf("after the drain it is machine %q, before it was %q", after.ID, before.ID)
	}
	t.only(s.Name)
}
