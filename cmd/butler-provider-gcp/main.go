// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command butler-provider-gcp provisions MachineRequests on Google Cloud.
package main

import (
	"os"

	"github.com/butlerdotdev/butler/provider/gcp"
	"github.com/butlerdotdev/butler/provider/serve"
)

func main() { os.Exit(serve.Program(gcp.Provider()).Main()) }
