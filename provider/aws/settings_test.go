// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"strings"
	"testing"

	sim "github.com/butlerdotdev/butler/internal/sim/aws"
	"github.com/butlerdotdev/butler/provider"
)

// TestSubnetsAreThoseOfTheVPC: others are refused before anything is created, and are no
// candidates.
func TestSubnetsAreThoseOfTheVPC(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	const other = "vpc-0123456789abcdef0"
	elsewhere := f.connected(t, func(c *provider.Config) { c.Spec.AWS.VPCID = other })
	_, err := elsewhere.Plan(t.Context(), cluster()[0], provider.Attempt{})
	if provider.ReasonOf(err) != provider.ReasonNetworkNotFound || !strings.Contains(err.Error(), "not in "+other) {
		t.Errorf("%v", err)
	}
	for vpc, want := range map[string]bool{f.seed.VPC: true, other: false} {
		p := f.connected(t, func(c *provider.Config) { c.Spec.AWS.VPCID, c.Spec.AWS.SubnetIDs = vpc, nil })
		found, err := p.Preflight.Check(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range found {
			if one.Check == "subnets" && strings.Contains(one.Hint, f.seed.Subnets[0]) != want {
				t.Errorf("candidates in %s: %s", vpc, one.Hint)
			}
		}
	}
}
