// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command butler-provider-nutanix provisions MachineRequests on Nutanix.
package main

import (
	"os"

	"github.com/butlerdotdev/butler/provider/nutanix"
	"github.com/butlerdotdev/butler/provider/serve"
)

func main() { os.Exit(serve.Program(nutanix.Provider()).Main()) }
