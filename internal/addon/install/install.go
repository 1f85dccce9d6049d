// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package install installs addons on clusters in the background: it starts those that
// can be started, in parallel along the graph, and reports the state of each. It reads
// that state from the cluster, so that it continues where another process ended.
package install

import (
	"context"
	"log/slog"
	"sync"

	"helm.sh/helm/v4/pkg/kube"
	"k8s.io/client-go/rest"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/addon/source"
)

// manager is the name under which fields of objects are owned.
const manager = "butler-bootstrap"

// Options are what an Installer works with.
type Options struct {
	Source *source.Source
	// Wake is called with the id of a cluster when the state of an addon changes.
	Wake func(id string)
	Log  *slog.Logger
}

// Target is a cluster that addons are put on.
type Target struct {
	// ID identifies the cluster.
	ID string
	// Config reaches the cluster's API server. A later one replaces it.
	Config *rest.Config
	// Platform is the spec of the cluster's ProviderConfig.
	Platform v1alpha1.ProviderConfigSpec
	// Credentials reads a Secret of the plane; nil means that of the cluster's
	// own ProviderConfig. It is called outside of Advance.
	Credentials func(*v1alpha1.SecretReference) (map[string][]byte, error)
	// Revision identifies the credentials, so that objects created from other ones
	// are recreated; empty means that it is not known.
	Revision string
}

// State is the state of one addon of a cluster.
type State struct {
	Key     string
	Version string
	// Phase is empty as long as the cluster was not looked at.
	Phase v1alpha1.AddonPhase
	// Reason is that of phase Failing.
	Reason string
	// Message is the present obstacle: what it waits for, or why it was not taken.
	// It has no times and no request ids.
	Message string
	// Digest is the checksum of what was fetched for it; empty where nothing was.
	Digest string
}

// fetcher brings addons in.
type fetcher interface {
	Fetch(context.Context, addon.Addon, source.Variables) (source.Content, error)
}

// Installer puts addons on clusters. It is safe for concurrent use.
type Installer struct {
	source   fetcher
	registry string
	wake     func(id string)
	log      *slog.Logger

	mu       sync.Mutex
	clusters map[string]*cluster
	closed   bool
}

// New returns an installer that does nothing so far.
func New(o Options) *Installer {
	i := newInstaller(o, o.Source)
	if o.Source != nil {
		i.registry = o.Source.Registry()
	}
	return i
}

// Registry is the one that addons come from, or empty: see source.Source.
func (i *Installer) Registry() string { return i.registry }

func newInstaller(o Options, source fetcher) *Installer {
	claimFields()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Wake == nil {
		o.Wake = func(string) {}
	}
	return &Installer{source: source, wake: o.Wake, log: o.Log, clusters: map[string]*cluster{}}
}

// claimFields has Helm own fields under the name that all of this package uses.
// Helm knows no other way than a variable.
var claimFields = sync.OnceFunc(func() { kube.ManagedFieldsManager = manager })

// Advance starts the addons of a cluster that can be started, and returns the states of
// all of them, in their order. It does not wait. An addon that is wanted
// differently than before is upgraded; one that is no longer listed stays on the
// cluster and is not looked at any more.
func (i *Installer) Advance(t Target, addons []addon.Addon) []State {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return unknown(addons)
	}
	c, known := i.clusters[t.ID]
	if !known {
		c = newCluster(i, t.ID)
		i.clusters[t.ID] = c
	}
	return c.advance(t, addons)
}

// unknown returns the states of addons that are not observed.
func unknown(addons []addon.Addon) (out []State) {
	for _, a := range addons {
		out = append(out, State{Key: a.Key, Version: a.Version})
	}
	return out
}

// Forget ends all work on a cluster and returns when it has ended.
func (i *Installer) Forget(id string) {
	i.mu.Lock()
	c := i.clusters[id]
	delete(i.clusters, id)
	i.mu.Unlock()
	if c != nil {
		c.end()
	}
}

// Close forgets all clusters, for good.
func (i *Installer) Close() {
	i.mu.Lock()
	all := i.clusters
	i.clusters, i.closed = map[string]*cluster{}, true
	i.mu.Unlock()
	var ended sync.WaitGroup
	for _, c := range all {
		ended.Go(c.end)
	}
	ended.Wait()
}
