// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package facade is what the simulator knows of a platform: how its API is started on
// the machines of a simulated datacenter, and what a manifest expects to find there.
package facade

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/front"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// Platform is a platform that can be simulated.
type Platform struct {
	Type v1alpha1.ProviderType
	// Start starts the simulated API and returns when it serves.
	Start func(context.Context, Options) (API, error)
	// Seed returns what a manifest expects on the platform, to be marshalled as JSON.
	// It has no credentials in it.
	Seed func(*v1alpha1.ClusterBootstrap, *v1alpha1.ProviderConfig) any
}

// Options are what a simulated API is started with.
type Options struct {
	Dir        string // of its state and credentials
	Executable string // see plane.Options
	Datacenter *datacenter.Datacenter
	Authority  *front.Authority
	Network    *network.Network
	// Listen is the address of this machine at which users reach the API; the zero value is
	// loopback.
	Listen netip.Addr
	// Seed is what Platform.Seed returned; empty means nothing.
	Seed json.RawMessage
	// Create is how long the platform takes to answer when a machine is created.
	Create  time.Duration
	Faults  *fault.Injector
	Auditor *audit.Auditor
	// Observe, if set, is called with every request.
	Observe func(*http.Request, fault.Call)
	Log     *slog.Logger
}

// API is a simulated API that serves.
type API interface {
	// Credentials returns the keys of a ProviderConfig's Secret, each with the file that
	// holds its value.
	Credentials() map[string]string
	// Admin returns the file with the administrator's access.
	Admin() string
	// Prepare starts what a fault plan needs, and returns when that serves.
	Prepare(context.Context, fault.Plan) error
	// Wait returns when the simulation has ended: nil after Stop, else the cause.
	Wait() error
	// Stop ends it. A second call does nothing.
	Stop() error
}
