// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package workstation

import (
	"context"
	"fmt"
	"net"

	"golang.org/x/sys/unix"

	"github.com/butlerdotdev/butler/provider"
)

const (
	// leastFiles and enoughFiles are how many files the processes of a local plane have
	// open each.
	leastFiles, enoughFiles = 512, 4096
	// enoughMemory is for etcd, the API server and the controllers.
	enoughMemory = gibibyte
)

// openFiles looks at the hard limit: programs written in Go raise their own up to it.
func openFiles(context.Context, Options) provider.Finding {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return unknown("open files", err.Error(), "make sure that ulimit -Hn is at least 4096")
	}
	return filesFinding(limit.Max)
}

func filesFinding(limit uint64) provider.Finding {
	const name, remedy = "open files", "raise the hard limit of open files to 4096, for example in /etc/security/limits.conf"
	evidence := fmt.Sprintf("a process may have %d", limit)
	switch {
	case limit == unix.RLIM_INFINITY:
		return passed(name, "there is no limit")
	case limit < leastFiles:
		return refused(name, evidence, remedy)
	case limit < enoughFiles:
		return unknown(name, evidence, remedy)
	}
	return passed(name, evidence)
}

// loopback looks whether processes of this machine can reach each other: the local plane
// listens on free ports of 127.0.0.1.
func loopback(ctx context.Context, _ Options) provider.Finding {
	const name, remedy = "ports of 127.0.0.1", "allow connections within this machine: check its firewall, and that the interface lo is up"
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return refused(name, err.Error(), remedy)
	}
	defer l.Close()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
	if err != nil {
		return refused(name, err.Error(), remedy)
	}
	_ = c.Close() // nothing was sent
	return passed(name, "free ports accept connections, such as "+l.Addr().String())
}

func memory(context.Context, Options) provider.Finding {
	free, err := availableMemory()
	if err != nil {
		return unknown("memory", "what is free cannot be read: "+err.Error(), "make sure that 1 GiB is free")
	}
	return memoryFinding(free)
}

// memoryFinding never refuses: what is available may be more in a moment.
func memoryFinding(free uint64) provider.Finding {
	evidence := gibibytes(free) + " are available"
	if free < enoughMemory {
		return unknown("memory", evidence, "end other programs, so that 1 GiB is available; a rehearsal with several nodes needs more")
	}
	return passed("memory", evidence)
}
