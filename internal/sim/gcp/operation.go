// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// task is what an operation carries out. It is kept with the operation.
type task struct {
	Method string // such as instances.insert
	Path   string // of the resource that it is about
	Target string // id of that
	User   string
	Body   object // of the request
}

// scope is the place of the operation: that of its resource.
func (t task) scope() string {
	return t.Path[:strings.LastIndex(t.Path[:strings.LastIndex(t.Path, "/")], "/")]
}

// failure is the error of an operation.
func failure(code, format string, args ...any) error {
	return &datacenter.OperationError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// failureStatus is the status that an operation shows with an error.
func failureStatus(code string) (int, string) {
	switch code {
	case "ZONE_RESOURCE_POOL_EXHAUSTED":
		return http.StatusServiceUnavailable, "SERVICE UNAVAILABLE"
	case "QUOTA_EXCEEDED":
		return http.StatusForbidden, "FORBIDDEN"
	case "RESOURCE_NOT_FOUND":
		return http.StatusNotFound, "NOT FOUND"
	case "INTERNAL_ERROR":
		return http.StatusInternalServerError, "INTERNAL SERVER ERROR"
	}
	return http.StatusBadRequest, "BAD REQUEST"
}

// openOperations opens the operations, and continues those that were pending.
func (g *GCP) openOperations(dir string) (err error) {
	all := map[string]datacenter.OperationKind{}
	for name, m := range g.methods {
		if m.apply != nil {
			all[name] = datacenter.OperationKind{Takes: g.takes(name), Do: g.carryOutTask}
		}
	}
	all[pretended] = datacenter.OperationKind{Takes: g.takes(pretended), Do: func(context.Context, datacenter.Operation) error {
		return failure("INTERNAL_ERROR", "Internal error. Please try again or contact Google Support. (Code: '%s')", "-3456789012345678901")
	}}
	g.operations, err = datacenter.OpenOperations(datacenter.OperationOptions{Dir: dir, Kinds: all})
	return err
}

// pretended is the kind of operations that fail after they were accepted.
const pretended = "pretended"

// takes is how long an operation is pending.
func (g *GCP) takes(method string) time.Duration {
	switch method {
	case "instances.insert", "instances.start":
		return 2 * g.Options.Create
	}
	return g.Options.Create
}

func (g *GCP) carryOutTask(_ context.Context, o datacenter.Operation) error {
	var t task
	if err := json.Unmarshal(o.Input, &t); err != nil {
		return err
	}
	return g.methods[t.Method].apply(g, t)
}

// repeated answers a request whose requestId was used before.
func (c *call) repeated() (any, error) {
	id := c.query.Get("requestId")
	if id == "" {
		return nil, nil
	}
	if parsed, err := uuid.Parse(id); err != nil || parsed == uuid.Nil {
		return nil, invalid("requestId", id, "Must be a valid UUID, and not zero.")
	}
	if before, found := c.operations.Find(c.requestKey()); found {
		return c.showOperation(before), nil
	}
	return nil, nil
}

// requestKey is what a requestId is remembered by: it belongs to one method and place.
func (c *call) requestKey() string {
	id := c.query.Get("requestId")
	if id == "" {
		return ""
	}
	return strings.ToLower(id) + " " + c.method.Name + " " + c.scope() + " " + c.params[resourceParam(c.method.Name)]
}

// resourceParam is the parameter of the path that names the resource of a method.
func resourceParam(method string) string {
	noun, verb, _ := strings.Cut(method, ".")
	if verb == "setLabels" && noun != "instances" {
		return "resource"
	}
	if noun == "instances" && verb == "setDeletionProtection" {
		return "resource"
	}
	return map[string]string{
		"instances": "instance", "disks": "disk", "images": "image", "networks": "network", "subnetworks": "subnetwork", "firewalls": "firewall",
		"routes": "route", "routers": "router", "addresses": "address", "regionHealthChecks": "healthCheck", "regionBackendServices": "backendService",
		"instanceGroups": "instanceGroup", "forwardingRules": "forwardingRule", "machineTypes": "machineType", "diskTypes": "diskType", "zones": "zone", "regions": "region",
	}[noun]
}

// begin begins the operation of a call on a resource.
func (c *call) begin(path, target string, body object) (any, error) {
	input, err := json.Marshal(task{Method: c.method.Name, Path: path, Target: target, User: c.who.Email, Body: body})
	if err != nil {
		return nil, err
	}
	o, err := c.operations.Begin(datacenter.Operation{Kind: c.method.Name, RequestID: c.requestKey(), Target: path, Input: input})
	if err != nil {
		return nil, err
	}
	return c.showOperation(o), nil
}

// operationName is the name that callers know an operation by.
func operationName(o datacenter.Operation) string {
	return fmt.Sprintf("operation-%d-%s", o.Began.UnixMilli(), o.ID)
}

// operationNamed returns the operation of a name in a place.
func (g *GCP) operationNamed(scope, name string) (object, bool) {
	const idLength = 36
	if len(name) < idLength {
		return nil, false
	}
	o, found := g.operations.Get(name[len(name)-idLength:])
	if !found || operationName(o) != name {
		return nil, false
	}
	shown := g.showOperation(o)
	return shown, strings.HasSuffix(shown.str("selfLink"), "/"+scope+"/operations/"+name)
}

func (g *GCP) showOperation(o datacenter.Operation) object {
	var t task
	if err := json.Unmarshal(o.Input, &t); err != nil {
		return object{}
	}
	name := operationName(o)
	out := object{
		"kind": "compute#operation", "id": numericID(name), "name": name, "operationType": operationType(t.Method), "targetLink": g.link(t.Path),
		"targetId": t.Target, "status": "RUNNING", "user": t.User, "progress": 0, "insertTime": stamp(o.Began), "startTime": stamp(o.Began),
		"selfLink": g.link(t.scope() + "/operations/" + name),
	}
	if id, _, _ := strings.Cut(o.RequestID, " "); id != "" {
		out["clientOperationId"] = id
	}
	switch place, location, _ := strings.Cut(t.scope(), "/"); place {
	case "zones":
		out["zone"] = g.link("zones/" + location)
	case "regions":
		out["region"] = g.link("regions/" + location)
	}
	if !o.Done() {
		return out
	}
	out["status"], out["progress"], out["endTime"] = "DONE", 100, stamp(o.Ended)
	if o.Failure != nil {
		out["httpErrorStatusCode"], out["httpErrorMessage"] = failureStatus(o.Failure.Code)
		out["error"] = object{"errors": []any{object{"code": o.Failure.Code, "message": o.Failure.Message}}}
	}
	return out
}

func operationType(method string) string {
	noun, verb, _ := strings.Cut(method, ".")
	if slices.Contains([]string{"insert", "delete", "start", "stop", "reset", "patch", "update", "setLabels", "setMetadata", "setTags"}, verb) {
		return verb
	}
	return "compute." + noun + "." + verb
}

// numericID is a stable number of 64 bits.
func numericID(name string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // a hash takes everything
	return strconv.FormatUint(h.Sum64()>>1|1<<60, 10)
}

// operationsIn returns the operations of a place.
func (c *call) operationsIn(scope string) (out []object) {
	for _, o := range c.operations.List() {
		var t task
		if json.Unmarshal(o.Input, &t) == nil && (scope == "" || t.scope() == scope) {
			out = append(out, c.showOperation(o))
		}
	}
	return out
}

func operationMethods() map[string]method {
	out := map[string]method{"globalOperations.aggregatedList": {verb: fault.List, handle: aggregateOperations}}
	for _, noun := range []string{"zoneOperations", "regionOperations", "globalOperations"} {
		out[noun+".get"] = method{verb: fault.Get, handle: getOperation}
		out[noun+".wait"] = method{verb: fault.Get, handle: getOperation}
		out[noun+".list"] = method{verb: fault.List, handle: listOperations}
	}
	return out
}

// waitLimit is how long a caller that waits for an operation waits at most.
const waitLimit = 2 * time.Minute

// await returns when the operation of a call that waits is done, or after a time.
func (g *GCP) await(ctx context.Context, q request) {
	if !strings.HasSuffix(q.method.Name, ".wait") {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	for tick := time.Tick(10 * time.Millisecond); ; {
		o, found := g.operationNamed((&call{request: q}).scope(), q.params["operation"])
		if !found || o.str("status") == "DONE" {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
	}
}

func getOperation(c *call) (any, error) {
	noun, _, _ := strings.Cut(c.method.Name, ".")
	if err := c.allow("compute."+noun+".get", c.scope()+"/operations/"+c.params["operation"]); err != nil {
		return nil, err
	}
	if o, found := c.operationNamed(c.scope(), c.params["operation"]); found {
		return o, nil
	}
	return nil, c.notFound(c.scope() + "/operations/" + c.params["operation"])
}

func listOperations(c *call) (any, error) {
	noun, _, _ := strings.Cut(c.method.Name, ".")
	if err := c.allow("compute."+noun+".list", ""); err != nil {
		return nil, err
	}
	return c.page("compute#operationList", c.scope()+"/operations", c.operationsIn(c.scope()))
}

func aggregateOperations(c *call) (any, error) {
	if err := c.allow("compute.globalOperations.list", ""); err != nil {
		return nil, err
	}
	return c.aggregated("compute#operationAggregatedList", "operations", c.operationsIn(""))
}

var errGone = errors.New("the resource of the operation does not exist any more")
