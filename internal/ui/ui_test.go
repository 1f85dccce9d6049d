// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func TestChangesTellsOnlyWhatChanged(t *testing.T) {
	machine := v1alpha1.BootstrapMachineStatus{Name: "a-cp-0", Role: v1alpha1.RoleControlPlane, Phase: v1alpha1.MachineCreating}
	running := machine
	running.Phase, running.IPAddress = v1alpha1.MachineRunning, "10.0.0.1"
	ready := running
	ready.TalosConfigured, ready.Ready = true, true
	provisioning := State{Phase: v1alpha1.BootstrapProvisioningMachines, Obstacle: "no address", Machines: []v1alpha1.BootstrapMachineStatus{machine}}
	for reason, c := range map[string]struct {
		before, after State
		want          []string
	}{
		"nothing changed": {provisioning, provisioning, nil},
		"everything is new": {State{}, provisioning, []string{
			"   1.5s • ProvisioningMachines",
			"   1.5s    a-cp-0 Creating",
			"   1.5s   … no address",
		}},
		"an obstacle that goes is not told": {provisioning, State{Phase: provisioning.Phase, Machines: []v1alpha1.BootstrapMachineStatus{running}}, []string{
			"   1.5s    a-cp-0 Running at 10.0.0.1",
		}},
		"a node becomes ready": {State{Phase: v1alpha1.BootstrapReady, Machines: []v1alpha1.BootstrapMachineStatus{running}}, State{Phase: v1alpha1.BootstrapReady, Machines: []v1alpha1.BootstrapMachineStatus{ready}}, []string{
			"   1.5s    a-cp-0 Running at 10.0.0.1, node Ready",
		}},
	} {
		var got []string
		for _, e := range Changes(c.before, c.after) {
			e.Elapsed = 1.5
			got = append(got, Plain(e))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", reason, diff)
		}
	}
}

func TestJSONIsOneLineWithItsSchema(t *testing.T) {
	e := Event{Time: time.Unix(0, 0).UTC(), Elapsed: 2, Type: "phase", Phase: v1alpha1.BootstrapPending, Message: "two\nlines"}
	want := `{"time":"1970-01-01T00:00:00Z","elapsed":2,"type":"phase","phase":"Pending","message":"two\nlines"}`
	if got := JSON(e); got != want || strings.Contains(got, "\n") {
		t.Errorf("got %s", got)
	}
}
