// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/cloud"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// pretend answers a call with an operation that fails later: nothing is carried out.
func (g *GCP) pretend(w http.ResponseWriter, r *http.Request) {
	g.Lock()
	defer g.Unlock()
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

// running returns the machines that run.
func (g *GCP) running() (out []cloud.Machine) {
	for _, i := range g.st.all("instances") {
		if i.state() == running {
			out = append(out, g.machine(i))
		}
	}
	return out
}

// machine is that of an instance.
func (g *GCP) machine(i *resource) cloud.Machine {
	return cloud.Machine{
		ID: i.id(), Name: i.name(), Copy: i.Copy, Runs: func() bool { return i.state() == running },
		Clone: func() { g.copyInstance(i, i.name()+"-clone") }, PowerOn: func() error { return g.powerOn(i) },
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

// createConflict creates a stopped instance of a name, without an owner.
func (g *GCP) createConflict(name string) (remove func(), err error) {
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
	return func() {
		if i := g.st.get(path); i != nil {
			g.dropInstance(i)
		}
	}, nil
}
