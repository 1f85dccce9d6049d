// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"testing"

	sim "github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/internal/sim/simtest"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
)

func TestRefusalsSayWhatToDoAndHeal(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	f.HealsCreation(t, f.connected(t), cluster(), simtest.QuotaUsedUp("raise the quota"), simtest.TokenExpired("renew the credentials"), simtest.ActionDenied("Microsoft.Compute/virtualMachines/write"))
}

func TestAnImageOfAnotherArchitectureIsRefused(t *testing.T) {
	f := newFixture(t, sim.Seed{Images: []sim.Image{{Name: "talos", Gallery: "own", Version: "1.9.2", Arch: "Arm64"}}})
	p := f.connected(t, func(c *provider.Config) { c.Spec.Azure.VMSize = "Standard_D4s_v5" })
	providertest.RefusesArchitecture(t, p, cluster()[0], f.admin.scope()+"/providers/Microsoft.Compute/galleries/own/images/talos/versions/1.9.2")
}
