// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command small is what tests make images of.
package main

import (
	"os"

	"github.com/google/go-cmp/cmp"
)

func main() {
	if len(os.Args) > 1 && !cmp.Equal(os.Args[0], os.Args[1]) {
		os.Exit(1)
	}
}
