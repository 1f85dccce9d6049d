// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command butler-provider-aws provisions MachineRequests on AWS.
package main

import (
	"os"

	"github.com/butlerdotdev/butler/provider/aws"
	"github.com/butlerdotdev/butler/provider/serve"
)

func main() { os.Exit(serve.Program(aws.Provider()).Main()) }
