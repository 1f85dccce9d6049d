// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package proxmox simulates the API of a Proxmox VE cluster on the machines of a simulated
// datacenter. docs/contributing/sim-proxmox.md says what is simulated how, and what is
// refused.
package proxmox

import (
	"net/http"
	"sync"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/cloud"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// PVE is a simulated cluster. Its API is safe for concurrent use.
type PVE struct {
	*cloud.Base

	seed   Seed
	name   string // of the cluster
	routes []route
	tasks  sync.WaitGroup // workers that run
	st     *state
	pids   int // of the last task
	// allowed are permissions that were found.
	allowed map[string]map[string]bool
	// staged are uploaded files that are not on their storage yet.
	staged map[string]*volume
}

// names of the cluster, and of the one that answers in its place.
const (
	firstCluster  = "butler-lab"
	secondCluster = "other-lab"
)

func newPVE(o facade.Options, seed Seed, name string, hosts bool) (_ *PVE, err error) {
	p := &PVE{seed: seed.withDefaults(), name: name, routes: routes(), pids: firstPID, staged: map[string]*volume{}, allowed: map[string]map[string]bool{}}
	if p.Base, err = cloud.New(o, hosts, p.behaviour()); err != nil {
		return nil, err
	}
	if p.st, err = openState(p.File("state"), p.Options.Log); err != nil {
		return nil, err
	}
	return p, p.install()
}

// behaviour of the platform, which speaks HTTP/1.1 alone.
func (p *PVE) behaviour() cloud.Behaviour {
	return cloud.Behaviour{
		Serve: p.ServeHTTP, Snapshot: p.snapshot, Second: p.startSecond,
		API:  fault.API{Classify: p.classify, Refuse: p.refuseFault, Pretend: p.pretend},
		Tags: requestSet, Content: content, Hosts: p.hostNames(), Port: "8006", HTTP1: true, Files: p.files,
		Resume: p.resume, Died: p.died, Running: p.running, Conflict: p.createConflict,
	}
}

// snapshot returns what answers as of now.
func (p *PVE) snapshot() http.HandlerFunc {
	then := p.st.snapshot()
	return func(w http.ResponseWriter, r *http.Request) {
		answer, err := (&call{PVE: p, st: then, now: time.Now()}).answer(r)
		write(w, answer, err)
	}
}

// startSecond starts another cluster with the same nodes and accounts.
func (p *PVE) startSecond(o facade.Options) (http.Handler, error) {
	second, err := newPVE(o, p.seed, secondCluster, false)
	if err != nil {
		return nil, err
	}
	second.Join(p.Base)
	second.st.accounts = p.st.accounts
	return second, nil
}

// Stop implements facade.API.
func (p *PVE) Stop() error {
	err := p.Base.Stop()
	p.tasks.Wait()
	return err
}
