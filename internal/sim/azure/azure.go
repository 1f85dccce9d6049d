// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package azure simulates Azure: the resource manager with compute, network and
// authorization, the tokens of Entra ID, and the retail prices, on the machines of a
// simulated datacenter. docs/contributing/sim-azure.md says what is simulated how, and what
// is refused.
package azure

import (
	"net/http"

	"github.com/butlerdotdev/butler/internal/sim/cloud"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// Azure is a simulated subscription. Its API is safe for concurrent use.
type Azure struct {
	*cloud.Base

	seed   Seed
	kinds  map[string]*kind // by lower-case type
	sizes  []size
	key    []byte // signs tokens
	actors []*actor
	// home is the tenant of the subscription, if it is not that of its users.
	home string
	st   *state
}

func newAzure(o facade.Options, seed Seed, hosts bool) (_ *Azure, err error) {
	a := &Azure{seed: seed.withDefaults(), kinds: kinds(), sizes: catalogue()}
	if a.Base, err = cloud.New(o, hosts, a.behaviour()); err != nil {
		return nil, err
	}
	if a.st, err = openState(a.File("state"), a.Options.Log); err != nil {
		return nil, err
	}
	return a, a.install()
}

func (a *Azure) behaviour() cloud.Behaviour {
	return cloud.Behaviour{
		Serve: a.ServeHTTP, Snapshot: a.snapshot, Second: a.startSecond,
		API:  fault.API{Classify: a.classify, Refuse: a.refuseFault, Pretend: a.pretend},
		Tags: requestSet, Content: content, Hosts: a.hostNames(), Plain: a.seed.Plain, Files: a.files,
		Resume: a.resume, Died: a.died, Running: a.running, Conflict: a.createConflict,
	}
}

// snapshot returns what answers as of now.
func (a *Azure) snapshot() http.HandlerFunc {
	then := a.st.snapshot()
	return func(w http.ResponseWriter, r *http.Request) { a.respond(w, r, then) }
}

// startSecond starts another subscription of the same name in another tenant, with what the
// seed names and the same credentials.
func (a *Azure) startSecond(o facade.Options) (http.Handler, error) {
	second, err := newAzure(o, a.seed, false)
	if err != nil {
		return nil, err
	}
	second.Join(a.Base)
	second.actors, second.key, second.home = a.actors, a.key, derivedUUID("second tenant")
	return second, nil
}
