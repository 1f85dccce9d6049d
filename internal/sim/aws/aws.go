// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package aws simulates AWS: EC2, Elastic Load Balancing, STS, the reads of IAM, Service
// Quotas, and the Price List, on the machines of a simulated datacenter.
// docs/contributing/sim-aws.md says what is simulated how, and what is refused.
package aws

import (
	"net/http"
	"sync"

	"github.com/butlerdotdev/butler/internal/sim/aws/model"
	"github.com/butlerdotdev/butler/internal/sim/cloud"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// AWS is a simulated account in one region. Its API is safe for concurrent use.
type AWS struct {
	*cloud.Base

	seed       Seed
	account    string
	types      []instanceType
	services   map[string]model.Service
	operations map[string]operation
	offers     func() map[string][]product // by service
	st         *state
}

// account IDs of the first platform and of one that answers in its place.
const (
	firstAccount  = "111122223333"
	secondAccount = "444455556666"
)

func newAWS(o facade.Options, seed Seed, account string, hosts bool) (*AWS, error) {
	services, err := model.Services()
	if err != nil {
		return nil, err
	}
	a := &AWS{seed: seed.withDefaults(), account: account, types: catalogue(), services: services, operations: operations()}
	a.offers = sync.OnceValue(a.products)
	if a.Base, err = cloud.New(o, hosts, a.behaviour()); err != nil {
		return nil, err
	}
	if a.st, err = openState(a.File("state"), a.Options.Log); err != nil {
		return nil, err
	}
	return a, a.install()
}

func (a *AWS) behaviour() cloud.Behaviour {
	return cloud.Behaviour{
		Serve: a.ServeHTTP, Snapshot: a.snapshot, Second: a.startSecond,
		API:  fault.API{Classify: a.classify, Refuse: a.refuseFault, Pretend: a.pretend},
		Tags: requestSet, Content: content, Hosts: a.hostNames(), Plain: a.seed.Plain, Files: a.files,
		Resume: a.resume, Died: a.died, Running: a.running, Conflict: a.createConflict,
	}
}

// snapshot returns what answers as of now.
func (a *AWS) snapshot() http.HandlerFunc {
	then := a.st.snapshot()
	return func(w http.ResponseWriter, r *http.Request) { a.respond(w, r, then) }
}

// startSecond starts another account, with what the seed names and the same credentials.
func (a *AWS) startSecond(o facade.Options) (http.Handler, error) {
	second, err := newAWS(o, a.seed, secondAccount, false)
	if err != nil {
		return nil, err
	}
	second.Join(a.Base)
	second.st.principals, second.st.sessions = a.st.principals, a.st.sessions
	return second, nil
}
