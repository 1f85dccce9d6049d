// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package workstation checks the machine that butleradm runs on: whether a local plane can
// run there, and what is on the way to platforms and registries. It changes nothing.
package workstation

import (
	"context"
	"net/url"
	"time"

	"github.com/butlerdotdev/butler/provider"
)

// patience is how long name resolution has for an answer.
const patience = 5 * time.Second

// Options are what a check is about.
type Options struct {
	// Home is where the state of clusters is kept; it need not exist.
	Home string
	// Hosts are names that this machine should resolve.
	Hosts []string
	// Rehearsal leaves out what only a real platform needs.
	Rehearsal bool
	// Direct are addresses that this machine connects to and that a proxy may not reach:
	// the platform and the endpoint of the cluster.
	Direct []string
}

// check looks at one thing.
type check func(context.Context, Options) provider.Finding

// Check returns a finding per check, in a fixed order.
func Check(ctx context.Context, o Options) (out []provider.Finding) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	checks := []check{stateDir, disk, memory, openFiles, loopback}
	if !o.Rehearsal {
		checks = append(checks, clock, proxy, names)
	}
	for _, look := range checks {
		out = append(out, look(ctx, o))
	}
	return out
}

// HostOf returns the host of an address or URL, without a port.
func HostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Hostname()
	}
	u, err := url.Parse("any://" + address)
	if err != nil {
		return address
	}
	return u.Hostname()
}

func passed(name, evidence string) provider.Finding {
	return provider.Finding{Check: name, Verdict: provider.Passed, Message: evidence}
}

func unknown(name, evidence, remedy string) provider.Finding {
	return provider.Finding{Check: name, Verdict: provider.Unknown, Message: evidence, Hint: remedy}
}

func refused(name, evidence, remedy string) provider.Finding {
	return provider.Finding{Check: name, Verdict: provider.Refused, Message: evidence, Hint: remedy}
}
