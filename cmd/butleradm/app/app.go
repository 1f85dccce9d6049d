// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package app lists the providers and simulators of butleradm. It is apart from the command
// so that the reference pages can be written without the components of a plane.
package app

import (
	"io"

	"github.com/butlerdotdev/butler/internal/cli"
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

// New returns butleradm. Component runs a component of a control plane.
func New(component func([]string) int, out, err io.Writer) cli.App {
	return cli.App{
		Providers:  []provider.Provider{harvester.Provider(), nutanix.Provider(), proxmox.Provider(), aws.Provider(), gcp.Provider(), azure.Provider()},
		Simulators: []facade.Platform{simharvester.Platform(), simnutanix.Platform(), simproxmox.Platform(), simaws.Platform(), simgcp.Platform(), simazure.Platform()},
		Component:  component,
		Out:        out,
		Err:        err,
	}
}
