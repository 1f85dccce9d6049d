// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// pretend answers a call with an operation that fails later: nothing is carried out.
func (g *GCP) pretend(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := &call{GCP: g, request: g.read(r), st: g.st, now: time.Now()}
	noun := c.method.Name
	path := c.path(collectionNamed(noun), c.params[resourceParam(noun)])
	target := ""
	if found := g.st.get(path); found != nil {
		target = found.id()
	}
	input, err := json.Marshal(task{Method: noun, Path: path, Target: target, User: g.account(userName)})
	if err != nil {
		writeRefusal(w, err)
		return
	}
	o, err := g.operations.Begin(datacenter.Operation{Kind: pretended, RequestID: c.requestKey(), Target: path, Input: input})
	if err != nil {
		writeRefusal(w, err)
		return
	}
	write(w, http.StatusOK, g.showOperation(o))
}

// collectionNamed is the collection of a method's resources.
func collectionNamed(method string) string {
	for _, k := range kinds() {
		if len(method) > len(k.noun) && method[:len(k.noun)+1] == k.noun+"." {
			return k.collection
		}
	}
	return ""
}

// Note implements fault.Past.
func (g *GCP) Note(moment time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.past[moment] == nil {
		g.past[moment] = g.st.snapshot()
	}
}

// Answer implements fault.Past.
func (g *GCP) Answer(w http.ResponseWriter, r *http.Request, moment time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	then := g.past[moment]
	if then == nil {
		then = g.st
	}
	g.respond(w, r, then)
}

// Prepare implements facade.API. The second platform is another project of the same name,
// with what the seed names and the same credentials, in which nothing can run.
func (g *GCP) Prepare(_ context.Context, p fault.Plan) error {
	if !p.Has(fault.SecondPlatform) {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.second != nil {
		return nil
	}
	o := g.options
	o.Dir, o.Faults, o.Auditor, o.Network = filepath.Join(o.Dir, "second"), nil, nil, nil
	second, err := newGCP(o, g.seed, secondNumber, false)
	if err != nil {
		return fmt.Errorf("start the second platform: %w", err)
	}
	second.st.principals, second.st.sessions, second.mu = g.st.principals, g.st.sessions, g.mu
	second.front, second.admin = g.front, g.admin
	if err := second.openOperations(second.file("operations")); err != nil {
		return fmt.Errorf("start the second platform: %w", err)
	}
	g.second = second
	return nil
}

func (g *GCP) serveSecond(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	second := g.second
	g.mu.Unlock()
	if second == nil {
		http.Error(w, "the second platform does not run", http.StatusServiceUnavailable)
		return
	}
	second.ServeHTTP(w, r)
}

// clone copies an instance that runs, if the fault plan says so, as a restore from a
// backup does: with all labels, and switched off.
func (g *GCP) clone(i *resource) {
	if !i.Copy && g.options.Faults.Cloned(i.name()) {
		g.copyInstance(i, i.name()+"-clone")
	}
}

// copyInstance creates a stopped copy of an instance with disks of its own.
func (g *GCP) copyInstance(i *resource, name string) {
	place := filepath.Dir(i.Path)
	rename := func(r *resource, path string) *resource {
		c := &resource{Object: r.Object.copied(), Path: path, Copy: true}
		c.Object["id"], c.Object["name"], c.Object["selfLink"] = newID(), nameOf(path), g.link(path)
		return c
	}
	copied := rename(i, place+"/"+name)
	copied.Object["status"] = terminated
	var disks []any
	for index, d := range i.Object.copied().subs("disks") {
		path, _ := g.self().pathOf(d.str("source"))
		if disk := g.st.get(path); disk != nil {
			c := rename(disk, fmt.Sprintf("%s/%s-%d", filepath.Dir(path), name, index))
			g.st.put(c)
			d["source"] = g.link(c.Path)
		}
		disks = append(disks, d)
	}
	copied.Object["disks"] = disks
	for _, n := range copied.Object.subs("networkInterfaces") {
		delete(n, "networkIP")
		delete(n, "accessConfigs")
	}
	g.st.put(copied)
}

// drainLater restarts the machine of an instance when the fault plan drains its host.
func (g *GCP) drainLater(i *resource) {
	after, hit := g.options.Faults.DrainedAfter(i.name())
	if !hit {
		return
	}
	g.later(after, func() {
		if i.state() == running {
			g.restart(i)
		}
	})
}

// followPlans has the faults of a new plan happen to the machines that run.
func (g *GCP) followPlans() {
	replaced := g.options.Faults.Replaced()
	for {
		select {
		case <-g.ctx.Done():
			return
		case <-replaced:
		}
		replaced = g.options.Faults.Replaced()
		g.mu.Lock()
		for _, i := range g.st.all("instances") {
			if i.state() == running {
				g.clone(i)
				g.drainLater(i)
			}
		}
		g.mu.Unlock()
	}
}

// createConflict creates a stopped instance of a name, without an owner.
func (g *GCP) createConflict(_ context.Context, name string) (func(context.Context) error, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	zone := zonesOf(g.seed.Region)[0]
	path := "zones/" + zone + "/instances/" + name
	for _, i := range g.st.tables["instances"].ByID {
		if i.name() == name {
			return nil, nil
		}
	}
	subnetwork := "regions/" + g.seed.Region + "/subnetworks/" + g.seed.Subnetwork
	g.add("instance", path, object{
		"status": terminated, "machineType": g.link("zones/" + zone + "/machineTypes/e2-standard-2"), "disks": []any{},
		"networkInterfaces": []any{object{"kind": "compute#networkInterface", "name": "nic0", "network": g.link("global/networks/" + g.seed.Network), "subnetwork": g.link(subnetwork)}},
		"scheduling":        object{"automaticRestart": true}, "id": newID(),
	})
	return func(context.Context) error {
		g.mu.Lock()
		defer g.mu.Unlock()
		if i := g.st.get(path); i != nil {
			g.dropInstance(i)
		}
		return nil
	}, nil
}
