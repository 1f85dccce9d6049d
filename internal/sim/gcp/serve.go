// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/front"
	"github.com/butlerdotdev/butler/internal/sim/gcp/model"
)

// request is a call of a method, as far as it can be read without checking it.
type request struct {
	method model.Method
	params map[string]string // in the path
	query  url.Values
	raw    []byte
	known  bool
	// service is compute, or the path of another service's call.
	service string
}

const compute = "compute"

// read reads a request. The body can still be read afterwards.
func (g *GCP) read(r *http.Request) request {
	q := request{query: r.URL.Query(), raw: front.Body(r), service: strings.Trim(r.URL.Path, "/")}
	if path, found := strings.CutPrefix(q.service, "compute/v1/"); found {
		q.service = compute
		q.method, q.params, q.known = g.model.Find(r.Method, path)
	}
	return q
}

// call is a request that is carried out. It holds the lock of the platform.
type call struct {
	*GCP
	request

	st   *state
	who  principal
	now  time.Time
	body object
	// diskUsers are the instances that have a disk, by its link; nil: not looked for yet.
	diskUsers map[string][]any
}

// ServeHTTP answers a call that no fault has answered.
func (g *GCP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.await(r.Context(), g.read(r))
	g.Lock()
	defer g.Unlock()
	g.respond(w, r, g.st)
}

// respond carries a request out on a state.
func (g *GCP) respond(w http.ResponseWriter, r *http.Request, st *state) {
	c := &call{GCP: g, request: g.read(r), st: st, now: time.Now()}
	result, err := c.carryOut(r)
	if err != nil {
		writeRefusal(w, err)
		return
	}
	write(w, http.StatusOK, result)
}

func (c *call) carryOut(r *http.Request) (result any, err error) {
	if c.service != compute {
		return c.otherService(r)
	}
	if !c.known {
		return nil, refusal{status: http.StatusNotFound, reason: "notFound", message: "The requested URL " + r.URL.Path + " was not found on this server.", rpc: "NOT_FOUND"}
	}
	m, served := c.methods[c.method.Name]
	if !served {
		return nil, refusal{status: http.StatusNotImplemented, reason: "notImplemented", message: "The simulated platform does not have " + c.method.Name}
	}
	if c.who, err = c.authenticate(r); err != nil {
		return nil, err
	}
	if err := c.checkRequest(); err != nil {
		return nil, err
	}
	if err := c.checkPlace(); err != nil {
		return nil, err
	}
	return m.handle(c)
}

// checkRequest checks parameters and body against the discovery document.
func (c *call) checkRequest() error {
	if p := c.model.CheckParams(c.method, c.params, c.query); p != nil {
		return wrong(p)
	}
	if mask := c.query.Get("fields"); mask != "" && mask != "*" {
		return notSimulated("fields")
	}
	if c.method.Body == "" {
		return nil
	}
	body := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(c.raw))
	decoder.UseNumber()
	if err := decoder.Decode(&body); err != nil && len(bytes.TrimSpace(c.raw)) > 0 {
		return badPayload("", "Invalid JSON payload received. Expected an object: "+err.Error())
	}
	read, p := c.model.Read(c.method.Body, body)
	if p != nil {
		return wrong(p)
	}
	c.body = read
	return nil
}

// checkPlace refuses other projects, and zones and regions that do not exist.
func (c *call) checkPlace() error {
	if project := c.params["project"]; project != c.seed.Project && project != c.number && !c.readable(project) {
		return c.otherProject(project)
	}
	if zone := c.params["zone"]; zone != "" && !c.hasZone(zone) {
		return invalid("zone", zone, "Unknown zone.")
	}
	if region := c.params["region"]; region != "" && !c.hasRegion(region) {
		return invalid("region", region, "Unknown region.")
	}
	return nil
}

// otherProject refuses a project that does not exist, or in which the caller has no rights:
// both have the same answer.
func (c *call) otherProject(project string) error {
	noun, verb, _ := strings.Cut(c.method.Name, ".")
	switch verb {
	case "insert":
		verb = "create"
	case "aggregatedList":
		verb = "list"
	}
	return c.forbidden("compute."+noun+"."+verb, "projects/"+project)
}

// scope is the place of the call in its project: zones/ZONE, regions/REGION or global.
func (c *call) scope() string {
	switch {
	case c.params["zone"] != "":
		return "zones/" + c.params["zone"]
	case c.params["region"] != "":
		return "regions/" + c.params["region"]
	}
	return "global"
}

// path is that of a resource of the call's project and place.
func (c *call) path(collection, name string) string {
	path := c.scope() + "/" + collection + "/" + name
	if project := c.params["project"]; project != c.seed.Project && project != c.number {
		return "projects/" + project + "/" + path
	}
	return path
}

// full is the path of a resource with its project. That of another project has it already.
func (g *GCP) full(path string) string {
	if strings.HasPrefix(path, "projects/") {
		return path
	}
	return "projects/" + g.seed.Project + "/" + path
}

const linkPrefix = "https://www.googleapis.com/compute/v1/"

// link is the URL of a resource.
func (g *GCP) link(path string) string { return linkPrefix + g.full(path) }
