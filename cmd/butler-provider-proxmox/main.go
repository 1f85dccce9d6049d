// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command butler-provider-proxmox provisions MachineRequests on Proxmox VE.
package main

import (
	"os"

	"github.com/butlerdotdev/butler/provider/proxmox"
	"github.com/butlerdotdev/butler/provider/serve"
)

func main() { os.Exit(serve.Program(proxmox.Provider()).Main()) }
