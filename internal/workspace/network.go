// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// Dialer opens connections.
type Dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

// StartSimulator starts the simulated platform of a rehearsal unless it runs. Without a
// setup it runs as it did last.
func (w Workspace) StartSimulator(ctx context.Context, p v1alpha1.ProviderType, s *sim.Setup) (sim.Info, error) {
	if !w.Rehearsal {
		return sim.Info{}, nil
	}
	executable, err := os.Executable()
	if err != nil {
		return sim.Info{}, err
	}
	if s == nil && !exists(w.SimDir()) {
		return sim.Info{}, fmt.Errorf("there is no simulated platform in %s: it was never started, or it was removed", w.SimDir())
	}
	if s == nil {
		return sim.Resume(ctx, w.SimDir(), executable, p)
	}
	return sim.Ensure(ctx, w.SimDir(), executable, p, *s)
}

// NewDialer returns a dialer that reaches the cluster's nodes from this machine: in a
// rehearsal over the simulated network and no other.
func (w Workspace) NewDialer() (Dialer, error) {
	if !w.Rehearsal {
		return (&net.Dialer{}).DialContext, nil
	}
	proxy, err := os.ReadFile(filepath.Join(w.SimDir(), "proxy"))
	if err != nil {
		return nil, fmt.Errorf("find the simulated network: %w", err)
	}
	return network.Dialer(string(proxy)), nil
}
