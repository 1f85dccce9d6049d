// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"strings"
	"testing"

	sim "github.com/butlerdotdev/butler/internal/sim/harvester"
	"github.com/butlerdotdev/butler/provider"
)

func TestAMachineWithoutGuestAgentWaitsAndSaysSo(t *testing.T) {
	w, err := start(t.TempDir(), sim.Seed{NoGuestAgent: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Stop(); err != nil {
			t.Error(err)
		}
	})
	p, err := Provider().Connect(t.Context(), w.config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	s := wanted("silent")
	if _, err := p.Machines.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	var seen provider.Machine
	until(t, func() bool {
		seen, err = p.Machines.Observe(t.Context(), s.MachineRef)
		return err == nil && seen.MAC != ""
	})
	if seen.State != provider.StatePending || len(seen.Addresses) != 0 {
		t.Errorf("%+v", seen)
	}
	for _, part := range []string{"qemu-guest-agent", "default/workloads"} {
		if !strings.Contains(seen.Message, part) {
			t.Errorf("the wait does not name %s: %s", part, seen.Message)
		}
	}
	remove(t, p.Machines, s.MachineRef)
}
