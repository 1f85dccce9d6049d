// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"errors"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	sim "github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/provider"
)

// TestAChangeThatHasNotBegunIsPartial: the controller asks again for what is Partial only.
func TestAChangeThatHasNotBegunIsPartial(t *testing.T) {
	waits := errors.New("another operation is in progress")
	for name, c := range map[string]struct {
		state   provider.State
		targets int
		waiting error
		want    provider.State
	}{
		"it follows the spec":           {provider.StateRunning, 0, nil, provider.StateRunning},
		"targets are missing":           {provider.StateRunning, 1, nil, provider.StatePending},
		"a change of one that runs":     {provider.StateRunning, 0, waits, provider.StatePartial},
		"a change of one that changes":  {provider.StatePending, 0, waits, provider.StatePartial},
		"the creation waits":            {provider.StateAbsent, 0, waits, provider.StatePartial},
		"it is being deleted elsewhere": {provider.StateDeleting, 0, waits, provider.StateDeleting},
	} {
		got := pending(provider.LoadBalancer{State: c.state, Certain: c.state == provider.StateAbsent}, c.targets, c.waiting)
		if got.State != c.want || got.Certain && got.State != provider.StateAbsent {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestAChangeWaitsForTheLastOne: a load balancer that Azure still changes, with ports that
// differ from the spec, is not reported as if the change had begun.
func TestAChangeWaitsForTheLastOne(t *testing.T) {
	b := balancers{newFixture(t, sim.Seed{}).admin}
	s := provider.LoadBalancerSpec{LoadBalancerRef: provider.LoadBalancerRef{Name: "lb", Owner: provider.Owner{ID: "lb"}}, Port: 6443, HealthCheckPort: 6443}
	lb, err := b.wanted(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	lb.Name, lb.Properties.ProvisioningState = new("lb"), new(armnetwork.ProvisioningStateUpdating)
	if err := b.ensureBalancer(t.Context(), s, &balancer{lb: &lb}); err != nil {
		t.Errorf("one with the ports of the spec: %v", err)
	}
	s.AdditionalPorts = []int32{50000}
	if err := b.ensureBalancer(t.Context(), s, &balancer{lb: &lb}); !busy(err) {
		t.Errorf("one with other ports: %v", err)
	}
}
