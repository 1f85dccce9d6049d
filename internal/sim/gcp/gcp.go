// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package gcp simulates Google Cloud: Compute Engine, the token endpoints, the resource
// manager's view of a project, and the billing catalogue, on the machines of a simulated
// datacenter. docs/contributing/sim-gcp.md says what is simulated how, and what is refused.
package gcp

import (
	"net/http"
	"sync"

	"github.com/butlerdotdev/butler/internal/sim/cloud"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/gcp/model"
)

// GCP is a simulated project. Its API is safe for concurrent use.
type GCP struct {
	*cloud.Base

	seed       Seed
	number     string // of the project
	model      *model.Model
	types      map[string]machineType
	methods    map[string]method
	skus       func() map[string][]sku // by service
	operations *datacenter.Operations
	st         *state
}

// numbers of the project, and of the one that answers in its place.
const (
	firstNumber  = "415104041262"
	secondNumber = "730925514683"
)

// newGCP returns a project, or with a first one that which answers in its place.
func newGCP(o facade.Options, seed Seed, first *GCP) (_ *GCP, err error) {
	g := &GCP{seed: seed.withDefaults(), number: firstNumber, model: model.Load(), types: predefined(), methods: methods()}
	g.skus = sync.OnceValue(g.catalogued)
	if first != nil {
		g.number = secondNumber
	}
	if g.Base, err = cloud.New(o, first == nil, g.behaviour()); err != nil {
		return nil, err
	}
	if g.st, err = openState(g.File("state"), g.Options.Log); err != nil {
		return nil, err
	}
	if err := g.install(); err != nil {
		return nil, err
	}
	if first != nil {
		g.Join(first.Base)
		g.st.principals, g.st.sessions = first.st.principals, first.st.sessions
	}
	return g, g.openOperations(g.File("operations"))
}

func (g *GCP) behaviour() cloud.Behaviour {
	return cloud.Behaviour{
		Serve: g.ServeHTTP, Snapshot: g.snapshot,
		Second: func(o facade.Options) (http.Handler, error) { return newGCP(o, g.seed, g) },
		API:    fault.API{Classify: g.classify, Refuse: g.refuseFault, Pretend: g.pretend},
		Tags:   requestSet, Content: content, Hosts: g.hostNames(), Plain: g.seed.Plain, Files: g.files,
		Resume: g.resume, Died: g.died, Running: g.running, Conflict: g.createConflict,
	}
}

// snapshot returns what answers as of now.
func (g *GCP) snapshot() http.HandlerFunc {
	then := g.st.snapshot()
	return func(w http.ResponseWriter, r *http.Request) { g.respond(w, r, then) }
}

// Stop implements facade.API.
func (g *GCP) Stop() error {
	err := g.Base.Stop()
	g.operations.Close()
	return err
}
