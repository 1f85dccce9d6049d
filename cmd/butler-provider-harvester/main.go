// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command butler-provider-harvester provisions MachineRequests on Harvester.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/butlerdotdev/butler/provider/harvester"
	"github.com/butlerdotdev/butler/provider/serve"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := serve.Run(ctx, harvester.Provider(), os.Args[1:], serve.Streams{Out: os.Stdout, Err: os.Stderr})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "butler-provider-harvester:", err)
		os.Exit(1)
	}
}
