// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// pretend answers a deletion with a task that fails later: nothing is carried out.
func (p *Prism) pretend(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := &call{Prism: p, request: p.read(r), st: p.st, now: time.Now()}
	who, err := c.authenticate(r)
	if err != nil {
		writeRefusal(w, err)
		return
	}
	e := p.st.get(kindVM, c.params[0])
	if e == nil {
		writeRefusal(w, notFound(kindVM, c.params[0]))
		return
	}
	id, err := p.beginFor(who.UUID, taskPretended, e, nil)
	if err != nil {
		writeRefusal(w, err)
		return
	}
	write(w, http.StatusAccepted, deletion(kindVM, id))
}

// Note implements fault.Past.
func (p *Prism) Note(moment time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.past[moment] == nil {
		p.past[moment] = p.st.snapshot()
	}
}

// Answer implements fault.Past.
func (p *Prism) Answer(w http.ResponseWriter, r *http.Request, moment time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	then := p.past[moment]
	if then == nil {
		then = p.st
	}
	p.respond(w, r, then)
}

// Prepare implements facade.API. The second platform is another Prism Central with what the
// seed names and the same users, on which nothing can run.
func (p *Prism) Prepare(_ context.Context, plan fault.Plan) error {
	if !plan.Has(fault.SecondPlatform) {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.second != nil {
		return nil
	}
	o := p.options
	o.Dir, o.Faults, o.Auditor, o.Network = filepath.Join(o.Dir, "second"), nil, nil, nil
	second, err := newPrism(o, p.seed, false)
	if err != nil {
		return fmt.Errorf("start the second platform: %w", err)
	}
	second.st.principals, second.sessions, second.mu = p.st.principals, p.sessions, p.mu
	second.front, second.admin = p.front, p.admin
	if err := second.openTasks(second.file("tasks")); err != nil {
		return fmt.Errorf("start the second platform: %w", err)
	}
	p.second = second
	return nil
}

func (p *Prism) serveSecond(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	second := p.second
	p.mu.Unlock()
	if second == nil {
		http.Error(w, "the second platform does not run", http.StatusServiceUnavailable)
		return
	}
	second.ServeHTTP(w, r)
}

// clone copies a VM, if the fault plan says so, as the platform's own clone does: with its
// description and categories, and switched off.
func (p *Prism) clone(e *entity) {
	if e.On && !e.Copy && p.options.Faults.Cloned(e.name()) {
		p.copyVM(e, newUUID(), e.name()+"-clone")
	}
}

// copyVM creates a copy of a VM that is off, with disks and interfaces of its own.
func (p *Prism) copyVM(e *entity, id, name string) {
	now := time.Now()
	c := &entity{
		Kind: kindVM, UUID: id, Spec: e.Spec.copied(), Created: now, Updated: now, Categories: e.Categories, Owner: e.Owner, Project: e.Project,
		State: stateComplete, Exists: true, Copy: true,
	}
	c.Spec["name"] = name
	r := c.resources()
	r["power_state"], r["parent_reference"] = "OFF", reference(kindVM, e.UUID, e.name())
	for _, d := range r.subs("disk_list") {
		d["uuid"] = newUUID()
	}
	for _, n := range r.subs("nic_list") {
		n["uuid"], n["ip_endpoint_list"] = newUUID(), []any{}
		n["mac_address"] = mac(n.str("uuid"))
	}
	p.st.put(c)
}

// drainLater restarts the machine of a VM when the fault plan drains its host.
func (p *Prism) drainLater(e *entity) {
	after, hit := p.options.Faults.DrainedAfter(e.name())
	if !hit {
		return
	}
	p.later(after, func() {
		if e.On {
			p.restart(e)
		}
	})
}

// followPlans has the faults of a new plan happen to the machines that run.
func (p *Prism) followPlans() {
	replaced := p.options.Faults.Replaced()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-replaced:
		}
		replaced = p.options.Faults.Replaced()
		p.mu.Lock()
		for _, e := range p.st.all(kindVM) {
			if e.On {
				p.clone(e)
				p.drainLater(e)
			}
		}
		p.mu.Unlock()
	}
}

// createConflict creates a VM of a name that is off, without an owner. Names are not unique:
// it is created even if the name is taken.
func (p *Prism) createConflict(_ context.Context, name string) (func(context.Context) error, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	e := &entity{
		Kind: kindVM, UUID: newUUID(), Created: now, Updated: now, State: stateComplete, Exists: true,
		Spec: object{"name": name, "cluster_reference": reference(kindCluster, p.cluster(), ""), "resources": object{"memory_size_mib": 1024}},
	}
	if err := p.complete(e); err != nil {
		return nil, err
	}
	p.st.put(e)
	return func(context.Context) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.st.remove(e)
		return nil
	}, nil
}
