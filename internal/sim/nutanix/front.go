// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"encoding/json"
	"net/http"

	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/provider/tag"
)

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
		p.Lock()
		defer p.Unlock()
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
