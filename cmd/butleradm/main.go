// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command butleradm creates a Talos Linux management cluster on an infrastructure.
package main

import (
	"os"

	"github.com/butlerdotdev/butler/cmd/butleradm/app"
	"github.com/butlerdotdev/butler/internal/plane/component"
)

func main() {
	os.Exit(app.New(component.Main, os.Stdout, os.Stderr).Main(os.Args[1:]))
}
