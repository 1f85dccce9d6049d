// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/facade"
)

func TestSimulatorSaysHowManyMachinesItHoldsAndTakesALargerSubnet(t *testing.T) {
	c := App{}.simRunCommand(facade.Platform{Type: v1alpha1.ProviderHarvester})
	if f := c.Flags().Lookup("subnet"); f == nil || f.Hidden || !strings.Contains(c.Long, "253 machines") {
		t.Errorf("the flag is %+v, the help\n%s", f, c.Long)
	}
	w := simulatorFlags{profile: datacenter.Instant}
	if s, err := simSetup(w, "", "10.40.0.0/16"); err != nil || s.Seed.Subnet != "10.40.0.0/16" {
		t.Errorf("%+v, %v", s.Seed, err)
	}
	if _, err := simSetup(w, "", "many"); err == nil || !strings.Contains(err.Error(), "10.40.0.0/16") {
		t.Errorf("a subnet that is none: %v", err)
	}
}
