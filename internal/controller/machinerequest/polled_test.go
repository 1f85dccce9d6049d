// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"fmt"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

func TestPolledMachinesShareListings(t *testing.T) {
	const machines = 30
	w := newFixture(t, inmemory.Options{Listing: true, AddressDelay: time.Second})
	w.Configure()
	var all []*v1alpha1.MachineRequest
	for i := range machines {
		all = append(all, w.request(fmt.Sprintf("m-%d", i)))
	}
	for _, r := range all {
		w.phase(r, v1alpha1.MachineRunning)
	}
	observed, listed := w.platform.Calls(inmemory.Observe), w.platform.Calls(inmemory.List)
	if listed == 0 || observed+listed > machines {
		t.Errorf("%d machines were observed %d times and listed %d times", machines, observed, listed)
	}
	w.platform.Remove("m-7")
	w.Nudge()
	w.reason(all[7], v1alpha1.ReasonVMLost)
	w.phase(all[8], v1alpha1.MachineRunning)
	w.machines(machines - 1)
}
