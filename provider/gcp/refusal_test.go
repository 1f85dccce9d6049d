// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"testing"

	sim "github.com/butlerdotdev/butler/internal/sim/gcp"
	"github.com/butlerdotdev/butler/internal/sim/simtest"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
)

func TestRefusalsSayWhatToDoAndHeal(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	f.HealsCreation(t, f.connected(t), cluster(), simtest.QuotaUsedUp("raise the quota"), simtest.TokenExpired("renew the credentials"), simtest.ActionDenied("compute.instances.create"))
}

func TestAnImageOfAnotherArchitectureIsRefused(t *testing.T) {
	f := newFixture(t, sim.Seed{Images: []sim.Image{{Name: "talos-arm", Arch: "ARM64"}}})
	p := f.connected(t, func(c *provider.Config) { c.Spec.GCP.MachineType = "e2-standard-4" })
	providertest.RefusesArchitecture(t, p, cluster()[0], "projects/butler-example/global/images/talos-arm")
}
