// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command butleradm creates a Talos Linux management cluster on an infrastructure.
package main

import (
	"os"

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

func main() {
	app := cli.App{
		Providers:  []provider.Provider{harvester.Provider(), nutanix.Provider(), proxmox.Provider(), aws.Provider(), gcp.Provider(), azure.Provider()},
		Simulators: []facade.Platform{simharvester.Platform(), simnutanix.Platform(), simproxmox.Platform(), simaws.Platform(), simgcp.Platform(), simazure.Platform()},
		Component:  component.Main,
		Out:        os.Stdout,
		Err:        os.Stderr,
	}
	os.Exit(app.Main(os.Args[1:]))
}
