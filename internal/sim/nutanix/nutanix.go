// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package nutanix simulates Nutanix: API v3 of a Prism Central with its clusters, on the
// machines of a simulated datacenter.
// docs/contributing/sim-nutanix.md says what is simulated how, and what is refused.
package nutanix

import (
	"net/http"

	"github.com/butlerdotdev/butler/internal/sim/cloud"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/nutanix/model"
)

// Prism is a simulated Prism Central. Its API is safe for concurrent use.
type Prism struct {
	*cloud.Base

	seed     Seed
	model    *model.Model
	routes   []route
	tasks    *datacenter.Operations
	st       *state
	sessions map[string]session
}

// newPrism returns a Prism Central, or with a first one that which answers in its place.
func newPrism(o facade.Options, seed Seed, first *Prism) (_ *Prism, err error) {
	p := &Prism{seed: seed.withDefaults(), model: model.Load(), routes: routes(), sessions: map[string]session{}}
	if p.Base, err = cloud.New(o, first == nil, p.behaviour()); err != nil {
		return nil, err
	}
	if p.st, err = openState(p.File("state"), p.Options.Log); err != nil {
		return nil, err
	}
	if err := p.install(); err != nil {
		return nil, err
	}
	if first != nil {
		p.Join(first.Base)
		p.st.principals, p.sessions = first.st.principals, first.sessions
	}
	return p, p.openTasks(p.File("tasks"))
}

func (p *Prism) behaviour() cloud.Behaviour {
	return cloud.Behaviour{
		Serve: p.ServeHTTP, Snapshot: p.snapshot,
		Second: func(o facade.Options) (http.Handler, error) { return newPrism(o, p.seed, p) },
		API:    fault.API{Classify: p.classify, Refuse: p.refuseFault, Pretend: p.pretend},
		Tags:   requestSet, Content: content, Hosts: p.seed.Hosts, Port: defaultPort, Files: p.files,
		Resume: p.resume, Died: p.died, Running: p.running, Conflict: p.createConflict,
	}
}

// snapshot returns what answers as of now.
func (p *Prism) snapshot() http.HandlerFunc {
	then := p.st.snapshot()
	return func(w http.ResponseWriter, r *http.Request) { p.respond(w, r, then) }
}

// Stop implements facade.API.
func (p *Prism) Stop() error {
	err := p.Base.Stop()
	p.tasks.Close()
	return err
}
