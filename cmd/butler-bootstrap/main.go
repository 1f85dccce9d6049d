// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command butler-bootstrap drives ClusterBootstraps.
package main

import (
	"net"
	"os"

	"github.com/butlerdotdev/butler/charts"
	"github.com/butlerdotdev/butler/internal/addon/source"
	"github.com/butlerdotdev/butler/internal/controller/clusterbootstrap"
)

func main() {
	p := clusterbootstrap.Program((&net.Dialer{}).DialContext, source.Options{Carried: charts.FS})
	os.Exit(p.Main())
}
