// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"

	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/sim"
)

// simRunFlags configure a simulated platform that runs alone.
type simRunFlags struct {
	simulatorFlags

	file, subnet, listen string
}

func (f *simRunFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.subnet, "subnet", "", "`CIDR` that machines get their addresses from (default 10.40.0.0/24)")
	c.Flags().StringVar(&f.listen, "listen", "", "`ADDRESS` of this machine at which the API is served (default 127.0.0.1)")
	f.simulatorFlags.register(c)
	c.Flags().StringVar(&f.file, "setup", "", "`FILE` with the initial state of the platform")
	_ = c.Flags().MarkHidden("setup")
}

// setup returns the initial state of the platform: the file of a rehearsal, if any, and
// the flags.
func (f *simRunFlags) setup() (sim.Setup, error) {
	setup, err := f.simulatorFlags.setup(sim.Seed{})
	if err != nil {
		return setup, err
	}
	if err := f.read(&setup); err != nil {
		return setup, err
	}
	if f.subnet != "" {
		if _, err := netip.ParsePrefix(f.subnet); err != nil {
			return setup, failure.Usagef("--subnet must be a network such as 10.40.0.0/16, not %s", f.subnet)
		}
		setup.Seed.Subnet = f.subnet
	}
	if f.listen != "" {
		setup.Listen, err = netip.ParseAddr(f.listen)
		if err != nil || setup.Listen.IsUnspecified() {
			return setup, failure.Usagef("--listen must be an address of this machine such as 10.40.0.1, not %s", f.listen)
		}
	}
	return setup, nil
}

func (f *simRunFlags) read(setup *sim.Setup) error {
	if f.file == "" {
		return nil
	}
	data, err := os.ReadFile(f.file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, setup); err != nil {
		return fmt.Errorf("setup %s: %w", f.file, err)
	}
	return nil
}
