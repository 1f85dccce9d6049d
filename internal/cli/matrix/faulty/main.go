// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command faulty is butleradm with faults and defects to order, for tests alone:
// it is killed at a given boundary, its clock jumps, its driver has defects. Orders
// are in the variable BUTLER_FAULTY, separated by commas; those for the pods of a
// simulated cluster, which see little of this process's environment, in the file
// butler-faulty of the directory for temporary files.
// docs/contributing/faults.md lists them.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/butlerdotdev/butler/internal/cli"
	"github.com/butlerdotdev/butler/internal/plane/component"
	simaws "github.com/butlerdotdev/butler/internal/sim/aws"
	simazure "github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	simgcp "github.com/butlerdotdev/butler/internal/sim/gcp"
	simharvester "github.com/butlerdotdev/butler/internal/sim/harvester"
	simnutanix "github.com/butlerdotdev/butler/internal/sim/nutanix"
	simproxmox "github.com/butlerdotdev/butler/internal/sim/proxmox"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/aws"
	"github.com/butlerdotdev/butler/provider/azure"
	"github.com/butlerdotdev/butler/provider/gcp"
	"github.com/butlerdotdev/butler/provider/harvester"
	"github.com/butlerdotdev/butler/provider/nutanix"
	"github.com/butlerdotdev/butler/provider/proxmox"
)

func main() { os.Exit(run()) }

func run() int {
	written, _ := os.ReadFile(filepath.Join(os.TempDir(), "butler-faulty")) // most have none
	o, err := parse(os.Getenv("BUTLER_FAULTY") + "," + string(written))
	if err != nil {
		fmt.Fprintln(os.Stderr, "faulty:", err)
		return 2
	}
	m := &memory{}
	app := cli.App{
		Providers:  []provider.Provider{o.spoil(harvester.Provider(), m), o.spoil(nutanix.Provider(), m), o.spoil(proxmox.Provider(), m), o.spoil(aws.Provider(), m), o.spoil(gcp.Provider(), m), o.spoil(azure.Provider(), m)},
		Simulators: []facade.Platform{simharvester.Platform(), simnutanix.Platform(), simproxmox.Platform(), simaws.Platform(), simgcp.Platform(), simazure.Platform()},
		Component:  component.Main,
		Out:        os.Stdout,
		Err:        os.Stderr,
		Hooks:      o.hooks(m),
	}
	return app.Main(os.Args[1:])
}
