// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command butler-provider-harvester provisions MachineRequests on Harvester.
package main

import (
	"os"

	"github.com/butlerdotdev/butler/provider/harvester"
	"github.com/butlerdotdev/butler/provider/serve"
)

func main() { os.Exit(serve.Program(harvester.Provider()).Main()) }
