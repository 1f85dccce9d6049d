// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command butler-controller looks after the platform of a management cluster, allocates
// addresses and creates tenant clusters.
package main

import (
	"net"
	"os"

	"github.com/butlerdotdev/butler/charts"
	"github.com/butlerdotdev/butler/internal/addon/source"
	"github.com/butlerdotdev/butler/internal/controller/butlercontroller"
)

func main() {
	p := butlercontroller.Program((&net.Dialer{}).DialContext, net.DefaultResolver, source.Options{Carried: charts.FS})
	os.Exit(p.Main())
}
