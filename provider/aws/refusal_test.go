// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"testing"

	sim "github.com/butlerdotdev/butler/internal/sim/aws"
	"github.com/butlerdotdev/butler/internal/sim/simtest"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
)

func TestRefusalsSayWhatToDoAndHeal(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	f.HealsCreation(t, f.connected(t), cluster(), simtest.QuotaUsedUp("raise the quota of the account"), simtest.TokenExpired("renew the credentials"), simtest.ActionDenied("ec2:RunInstances"))
}

func TestAnImageOfAnotherArchitectureIsRefused(t *testing.T) {
	f := newFixture(t, sim.Seed{Images: []sim.Image{{ID: "ami-0aaaaaaaaaaaaaaaa", Name: "talos-arm", Arch: "arm64"}}})
	p := f.connected(t, func(c *provider.Config) { c.Spec.AWS.InstanceType = "m5.xlarge" })
	providertest.RefusesArchitecture(t, p, cluster()[0], "ami-0aaaaaaaaaaaaaaaa")
}
