// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command realnodes creates an HA cluster of real Talos nodes on a simulated Harvester, has it
// manage itself with the images of a registry, replaces a worker and destroys the cluster. It
// prints how long each part took.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// usage is the exit code of a run that is not possible here.
const usage = 2

func main() {
	here := here{OS: runtime.GOOS, UID: os.Geteuid(), Has: isLocal, Dial: dial}
	var o options
	flag.StringVar(&o.Boot, "boot", "", "`CMD` that runs one real Talos node")
	flag.StringVar(&o.Registry, "registry", "", "`HOST:PORT` of the registry that the nodes pull from")
	flag.StringVar(&o.Butleradm, "butleradm", "bin/butleradm", "the executable")
	flag.StringVar(&o.Images, "images", "", "`FILE` with the images of the controllers, as butleradm images build writes it; empty: only check whether a run is possible")
	flag.Parse()
	if err := here.refuse(o); err != nil {
		fmt.Fprintln(os.Stderr, "test-real:", err)
		os.Exit(usage)
	}
	if o.Images == "" {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "test-real:", err)
		os.Exit(1)
	}
}

// options are those of the command line.
type options struct {
	Boot, Registry, Butleradm, Images string
}

func dial(address string) error {
	c, err := net.DialTimeout("tcp", address, patience)
	return errors.Join(err, closed(c))
}

func closed(c net.Conn) error {
	if c == nil {
		return nil
	}
	return c.Close()
}
