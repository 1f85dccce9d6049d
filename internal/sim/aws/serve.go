// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"errors"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// operation is how a call of one operation is carried out, and what it is to faults and
// to the record of writes.
type operation struct {
	verb     fault.Verb
	resource fault.Resource
	handle   func(*call) (fields, error)
}

// call is a request that is carried out. It holds the lock of the platform.
type call struct {
	*AWS
	request

	st  *state
	who caller
	now time.Time
}

// dryRun refuses a call that is only checked. It comes before the first effect.
func (c *call) dryRun() error {
	if !c.params.Bool("DryRun", false) {
		return nil
	}
	return refusal{"DryRunOperation", "Request would have succeeded, but DryRun flag is set.", http.StatusPreconditionFailed}
}

// ServeHTTP answers a call that no fault has answered.
func (a *AWS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.Lock()
	defer a.Unlock()
	a.respond(w, r, a.st)
}

// respond carries a request out on a state.
func (a *AWS) respond(w http.ResponseWriter, r *http.Request, st *state) {
	q := read(r)
	result, err := a.carryOut(&call{AWS: a, request: q, st: st, now: time.Now()}, r)
	if err != nil {
		var refused refusal
		if !errors.As(err, &refused) {
			refused = refusal{"InternalError", err.Error(), http.StatusInternalServerError}
		}
		writeRefusal(w, q.service, refused)
		return
	}
	q.answer(w, result)
}

func (a *AWS) carryOut(c *call, r *http.Request) (fields, error) {
	op, err := a.find(c.request)
	if err != nil {
		return nil, err
	}
	if c.who, err = a.authenticate(c.request, r, c.now); err != nil {
		return nil, err
	}
	if p := a.services[c.service].Operations[c.operation].Check(c.params); p != nil {
		return nil, wrong(c.service, p)
	}
	if err := c.authorize(); err != nil {
		return nil, err
	}
	result, err := op.handle(c)
	if err == nil && op.verb == fault.List {
		err = c.dryRun()
	}
	return result, err
}

// find returns the operation of a request.
func (a *AWS) find(q request) (operation, error) {
	s, known := a.services[q.service]
	switch {
	case !known:
		return operation{}, refusal{"AuthFailure", "Credential should be scoped to correct service.", http.StatusForbidden}
	case q.operation == "":
		return operation{}, refuse("MissingAction", "The request is missing an action parameter.")
	case !speaksJSON(q.service) && q.version != s.Version:
		return operation{}, refuse("NoSuchVersion", "The requested version (%s) of service %s does not exist", q.version, q.service)
	}
	op, known := a.operations[q.service+":"+q.operation]
	if !known {
		return operation{}, refuse("InvalidAction", "The action %s is not valid for this web service.", q.operation)
	}
	return op, nil
}

// operations are all that are served, by service and name.
func operations() map[string]operation {
	out := map[string]operation{}
	for _, some := range []map[string]operation{
		ec2Instances(), ec2Network(), ec2Catalogue(), ec2Parts(), elbOperations(), identityOperations(), quotaOperations(), priceOperations(),
	} {
		maps.Copy(out, some)
	}
	return out
}

func verbOf(operation string) fault.Verb {
	switch {
	case strings.HasPrefix(operation, "Describe"), strings.HasPrefix(operation, "List"):
		return fault.List
	case strings.HasPrefix(operation, "Get"), strings.HasPrefix(operation, "Simulate"), strings.HasPrefix(operation, "Assume"):
		return fault.Get
	case strings.HasPrefix(operation, "Create"), strings.HasPrefix(operation, "Run"), strings.HasPrefix(operation, "Allocate"):
		return fault.Create
	case strings.HasPrefix(operation, "Delete"), strings.HasPrefix(operation, "Terminate"), strings.HasPrefix(operation, "Release"):
		return fault.Delete
	}
	return fault.Update
}

// served is an operation whose verb follows from its name.
func served(name string, r fault.Resource, handle func(*call) (fields, error)) operation {
	return operation{verb: verbOf(name), resource: r, handle: handle}
}

// group of operations of one service that are about one resource.
func about(service string, r fault.Resource, handlers map[string]func(*call) (fields, error)) map[string]operation {
	out := map[string]operation{}
	for name, handle := range handlers {
		out[service+":"+name] = served(name, r, handle)
	}
	return out
}
