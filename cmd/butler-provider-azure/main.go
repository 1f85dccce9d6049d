// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command butler-provider-azure provisions MachineRequests on Azure.
package main

import (
	"os"

	"github.com/butlerdotdev/butler/provider/azure"
	"github.com/butlerdotdev/butler/provider/serve"
)

func main() { os.Exit(serve.Program(azure.Provider()).Main()) }
