// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command butler-controller looks after the platform of a management cluster.
package main

import (
	"os"

	"github.com/butlerdotdev/butler/internal/controller/butlerconfig"
	"github.com/butlerdotdev/butler/internal/controller/program"
)

func main() {
	os.Exit(program.Program{Name: "butler-controller", Register: butlerconfig.Register}.Main())
}
