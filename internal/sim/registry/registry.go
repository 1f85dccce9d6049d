// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package registry serves small charts and manifests that replace the real
// ones: under the same names and versions, at the same addresses of the
// simulated network, with real workloads, definitions, webhooks and hooks.
package registry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/front"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// Kind is how an artifact is fetched.
type Kind string

// The kinds of artifacts.
const (
	Chart    Kind = "chart"    // from an HTTP repository, or with oci:// from a registry
	Manifest Kind = "manifest" // one file
	Provider Kind = "provider" // components of a Cluster API provider, and the metadata beside them
	Image    Kind = "image"    // an image of this project, of which a registry knows the manifest only
)

// Artifact is something that clusters will ask for.
type Artifact struct {
	// Addon is the key of the addon that it belongs to.
	Addon string `json:"addon"`
	Kind  Kind   `json:"kind"`
	// URL of the repository, of the chart in its registry, or of the file, in which
	// %s is replaced by the version.
	URL     string `json:"url"`
	Name    string `json:"name,omitempty"` // of the chart
	Version string `json:"version"`
	Digest  string `json:"digest,omitempty"` // of an image that is asked for by its digest
}

// Options say what to serve, and where.
type Options struct {
	Authority *front.Authority
	Network   *network.Network
	Artifacts []Artifact
	Faults    *fault.Injector
	Log       *slog.Logger
}

// headerTimeout is how long a client may take for the head of its request.
const headerTimeout = 30 * time.Second

// Registry serves artifacts until it is closed.
type Registry struct {
	options Options
	shelf   *shelf
	server  *http.Server
	done    sync.WaitGroup
}

// Start serves the artifacts at their own addresses. It refuses one that nothing
// replaces. A fault that no artifact can have is logged.
func Start(_ context.Context, o Options) (*Registry, error) {
	s, err := newShelf(o.Artifacts)
	if err != nil {
		return nil, fmt.Errorf("serve charts and manifests: %w", err)
	}
	security, err := o.Authority.TLS(s.hosts()...)
	if err != nil {
		return nil, fmt.Errorf("serve charts and manifests: %w", err)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve charts and manifests: %w", err)
	}
	r := &Registry{options: o, shelf: s}
	r.server = &http.Server{
		Handler: http.HandlerFunc(r.serve), TLSConfig: security, ReadHeaderTimeout: headerTimeout,
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	for _, said := range o.Faults.Plan().Idle(s.addons) {
		o.Log.Warn(said)
	}
	r.done.Go(func() { _ = r.server.ServeTLS(l, "", "") }) // ends with Close
	r.route(l.Addr().String())
	return r, nil
}

// Idle reports the faults of a plan that will not happen, because no artifact
// has what would go wrong.
func Idle(p fault.Plan, artifacts []Artifact) ([]string, error) {
	s, err := newShelf(artifacts)
	if err != nil {
		return nil, err
	}
	return p.Idle(s.addons), nil
}

// route leads the hosts of the artifacts to target; an empty one ends that.
func (r *Registry) route(target string) {
	for _, host := range r.shelf.hosts() {
		r.options.Network.Route(net.JoinHostPort(host, "443"), target)
	}
	for address := range r.shelf.ports {
		r.options.Network.Route(address, target)
	}
}

// Close ends it.
func (r *Registry) Close() error {
	r.route("")
	err := r.server.Close()
	r.done.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
