// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command butler-controller looks after the platform of a management cluster and allocates
// addresses.
package main

import (
	"os"

	"github.com/butlerdotdev/butler/internal/controller/butlercontroller"
)

func main() { os.Exit(butlercontroller.Program().Main()) }
