// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"errors"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/proxmox"
	"github.com/butlerdotdev/butler/internal/sim/simtest"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
)

func TestConformance(t *testing.T) {
	s, err := simtest.Start(t.Context(), simtest.Options{Dir: t.TempDir(), Platform: sim.Platform()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	credentials, err := s.Credentials()
	if err != nil {
		t.Fatal(err)
	}
	config := provider.Config{ProviderConfig: &v1alpha1.ProviderConfig{}, Credentials: provider.NewCredentials(credentials)}
	config.Name, config.Spec.Provider = "proxmox-prod", v1alpha1.ProviderProxmox
	config.Transport = provider.Transport{DialContext: s.Network.Dial}
	providertest.Run(t, providertest.Suite{
		Provider: Provider(), Config: config, Bed: operator{s},
		Machine:              provider.MachineSpec{Role: v1alpha1.RoleWorker, CPU: 2, MemoryMB: 2048, DiskGB: 10},
		Record:               "../../docs/contributing/provider-contract.md",
		WithoutLoadBalancers: "on-premises clusters have a virtual IP instead",
	})
}

// operator sees and changes the simulated platform as its administrator does. Faults are
// the simulator's.
type operator struct{ *simtest.Simulator }

// errOperator is returned by what is left to do.
var errOperator = errors.New("the simulated platform has no administrator yet")

// Plant implements providertest.Bed.
func (operator) Plant(context.Context, string) error { return errOperator }

// Clone implements providertest.Bed.
func (operator) Clone(context.Context, string, string) (func(), error) { return nil, errOperator }

// Look implements providertest.Bed.
func (operator) Look(context.Context, string) (providertest.Sight, error) {
	return providertest.Sight{}, errOperator
}
