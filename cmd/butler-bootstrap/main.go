// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command butler-bootstrap drives ClusterBootstraps.
package main

import (
	"net"
	"os"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/butlerdotdev/butler/internal/controller/clusterbootstrap"
	"github.com/butlerdotdev/butler/internal/controller/program"
)

func main() {
	p := program.Program{
		Name: "butler-bootstrap",
		Register: func(m manager.Manager) error {
			return clusterbootstrap.Register(m, (&net.Dialer{}).DialContext)
		},
	}
	os.Exit(p.Main())
}
