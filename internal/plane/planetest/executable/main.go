// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command executable is nothing but the components of a control plane: what
// tests run, so that a change elsewhere does not link Kubernetes again.
package main

import (
	"os"

	"github.com/butlerdotdev/butler/internal/plane/component"
)

func main() { os.Exit(component.Main(os.Args[2:])) }
