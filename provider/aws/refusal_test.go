// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"strings"
	"testing"

	sim "github.com/butlerdotdev/butler/internal/sim/aws"
	"github.com/butlerdotdev/butler/internal/sim/simtest"
	"github.com/butlerdotdev/butler/provider"
)

// TestRefusalsSayWhatToDoAndHeal: a quota that is used up, a token that has expired, an
// action that is not granted.
func TestRefusalsSayWhatToDoAndHeal(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	p := f.connected(t)
	for i, r := range []simtest.Refusal{simtest.QuotaUsedUp("raise the quota of the account"), simtest.TokenExpired("renew the credentials"), simtest.ActionDenied("ec2:RunInstances")} {
		f.Heals(t, r, func() error {
			_, err := p.Machines.Create(t.Context(), cluster()[i])
			return err
		})
	}
}

// TestAnImageOfAnotherArchitectureIsRefused where the size is named, in the preflight and
// before a machine is created.
func TestAnImageOfAnotherArchitectureIsRefused(t *testing.T) {
	f := newFixture(t, sim.Seed{Images: []sim.Image{{ID: "ami-0aaaaaaaaaaaaaaaa", Name: "talos-arm", Arch: "arm64"}}})
	p := f.connected(t, func(c *provider.Config) { c.Spec.AWS.InstanceType = "m5.xlarge" })
	s := cluster()[0]
	s.Image = "ami-0aaaaaaaaaaaaaaaa"
	_, err := p.Plan(t.Context(), s, provider.Attempt{})
	if provider.ReasonOf(err) != provider.ReasonInstanceTypeNotFound || !strings.Contains(strings.ToLower(err.Error()), "arm64") {
		t.Errorf("%v", err)
	}
	found, err := p.Preflight.Check(t.Context(), []provider.MachineSpec{s})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range found {
		if one.Verdict == provider.Refused && strings.Contains(strings.ToLower(one.Message), "arm64") && one.Hint != "" {
			return
		}
	}
	t.Errorf("%+v", found)
}
