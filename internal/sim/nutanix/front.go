// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/front"
	"github.com/butlerdotdev/butler/provider/tag"
)

// openFronts serves the API to its users, with faults and the record of writes, and to the
// administrator, without.
func (p *Prism) openFronts() error {
	o := p.options
	api := fault.API{Classify: p.classify, Refuse: p.refuseFault, Pretend: p.pretend, Past: p, Second: http.HandlerFunc(p.serveSecond)}
	var err, adminErr error
	p.front, err = front.Serve(front.Options{
		AddressFile: p.file("front"), Authority: o.Authority, Hosts: p.seed.Hosts, API: api, Tags: requestSet, Content: content,
		Create: o.Create, Faults: o.Faults, Auditor: o.Auditor, Observe: o.Observe, Network: o.Network, Log: o.Log,
	}, p)
	p.admin, adminErr = front.Serve(front.Options{AddressFile: p.file("adminfront"), Authority: o.Authority, API: api, Log: o.Log}, p)
	return errors.Join(err, adminErr)
}

// requestSet is what the description in a request says: of a VM, or of a category.
func requestSet(body []byte) tag.Set {
	o := object{}
	if json.Unmarshal(body, &o) != nil {
		return tag.Set{}
	}
	if o.has("spec") {
		o = o.sub("spec")
	}
	return setOf(o.str("description"))
}

// content is what a request writes to the platform. A machine configuration in user data is
// left out: it has keys in it, and on this platform it travels there.
func content(body []byte) []byte {
	o := object{}
	if json.Unmarshal(body, &o) != nil {
		return body
	}
	init := o.sub("spec").sub("resources").sub("guest_customization").sub("cloud_init")
	if audit.Configures(userData(o.sub("spec").sub("resources"), &entity{})) {
		delete(init, "user_data")
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return body
	}
	return raw
}

// classify says what a request is in the words of a fault plan.
func (p *Prism) classify(r *http.Request) fault.Call {
	q := p.read(r)
	if !q.known {
		return fault.Call{Verb: fault.Get}
	}
	c := fault.Call{Verb: q.route.verb, Resource: q.route.resource()}
	switch {
	case q.route.uuid:
		p.mu.Lock()
		defer p.mu.Unlock()
		c.Name = p.nameOf(q.route.kind, q.params[0])
	case c.Verb == fault.Create && q.route.kind == kindVM:
		o := object{}
		if json.Unmarshal(q.raw, &o) == nil {
			c.Name = o.sub("spec").str("name")
		}
	case len(q.params) > 0:
		c.Name = q.params[0]
	}
	return c
}

// refuseFault answers a call that the fault plan refuses.
func (p *Prism) refuseFault(w http.ResponseWriter, r *http.Request, f fault.Refusal) {
	switch f.Kind {
	case fault.Throttle:
		writeRefusal(w, refusal{status: http.StatusTooManyRequests, reason: "TOO_MANY_REQUESTS", message: "Too many requests. Please retry after some time.", retryAfter: f.RetryAfter})
	case fault.TokenExpiry:
		writeRefusal(w, wrongCredentials())
	case fault.Quota:
		writeRefusal(w, refusal{status: http.StatusUnprocessableEntity, kind: kindVM, reason: "RESOURCE_SHORTAGE", message: "The resource limit of the project is exceeded."})
	default:
		writeRefusal(w, accessDenied(p.read(r).route.permission))
	}
}
