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
	larger := simRunFlags{simulatorFlags: w, subnet: "10.40.0.0/16"}
	if s, err := larger.setup(); err != nil || s.Seed.Subnet != "10.40.0.0/16" {
		t.Errorf("%+v, %v", s.Seed, err)
	}
	wrong := simRunFlags{simulatorFlags: w, subnet: "many"}
	if _, err := wrong.setup(); err == nil || !strings.Contains(err.Error(), "10.40.0.0/16") {
		t.Errorf("a subnet that is none: %v", err)
	}
}

func TestSimulatorListensAtOneAddress(t *testing.T) {
	w := simulatorFlags{profile: datacenter.Instant}
	for given, want := range map[string]string{"": "invalid IP", "10.5.0.1": "10.5.0.1", "fd00::1": "fd00::1"} {
		f := simRunFlags{simulatorFlags: w, listen: given}
		if s, err := f.setup(); err != nil || s.Listen.String() != want {
			t.Errorf("%q: %v, %v", given, s.Listen, err)
		}
	}
	for _, given := range []string{"eth0", "10.5.0.1:443", "0.0.0.0", "::"} {
		f := simRunFlags{simulatorFlags: w, listen: given}
		if _, err := f.setup(); err == nil || !strings.Contains(err.Error(), "--listen must be an address") {
			t.Errorf("%q: %v", given, err)
		}
	}
}
