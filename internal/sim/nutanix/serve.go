// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/front"
	"github.com/butlerdotdev/butler/internal/sim/nutanix/model"
)

// base is the path of the API.
const base = "/api/nutanix/v3/"

// request is a call, as far as it can be read without checking it.
type request struct {
	route  route
	known  bool
	params []string // in the path
	raw    []byte
}

// read reads a request. The body can still be read afterwards.
func (p *Prism) read(r *http.Request) request {
	q := request{raw: front.Body(r)}
	path, found := strings.CutPrefix(r.URL.EscapedPath(), base)
	if !found || p.seed.WithoutV3 {
		return q
	}
	for _, one := range p.routes {
		if params, fits := one.match(r.Method, strings.TrimSuffix(path, "/")); fits {
			q.route, q.params, q.known = one, params, true
			return q
		}
	}
	return q
}

// call is a request that is carried out. It holds the lock of the platform.
type call struct {
	*Prism
	request

	st   *state
	who  principal
	now  time.Time
	body object
}

// ServeHTTP answers a call that no fault has answered.
func (p *Prism) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.Lock()
	defer p.Unlock()
	p.respond(w, r, p.st)
}

// respond carries a request out on a state.
func (p *Prism) respond(w http.ResponseWriter, r *http.Request, st *state) {
	c := &call{Prism: p, request: p.read(r), st: st, now: time.Now()}
	w.Header().Set("X-Ntnx-Env", "pc")
	w.Header().Set("X-Ntnx-Product", p.seed.Version)
	if !c.known {
		write(w, http.StatusNotFound, object{
			"message": "The requested URL was not found on the server. If you entered the URL manually please check your spelling and try again.",
		})
		return
	}
	result, err := c.carryOut(w, r)
	if err != nil {
		writeRefusal(w, err)
		return
	}
	write(w, c.route.status(), result)
}

func (c *call) carryOut(w http.ResponseWriter, r *http.Request) (result any, err error) {
	if c.who, err = c.authenticate(r); err != nil {
		return nil, err
	}
	c.beginSession(w, r)
	if err := c.allow(c.route.permission); err != nil {
		return nil, err
	}
	if err := c.readBody(r); err != nil {
		return nil, err
	}
	if c.route.uuid && !model.IsUUID(c.params[0]) {
		return nil, invalid("uuid", "'%s' is not a UUID", c.params[0])
	}
	return c.route.handle(c)
}

// readBody checks the body of a request against the description of the API.
func (c *call) readBody(r *http.Request) error {
	if c.route.body == "" {
		return nil
	}
	if kind := r.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
		return refusal{status: http.StatusUnsupportedMediaType, reason: "UNSUPPORTED_MEDIA_TYPE_ERROR", message: "Content type '" + kind + "' is not supported."}
	}
	body := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(c.raw))
	decoder.UseNumber()
	if err := decoder.Decode(&body); err != nil {
		return refusal{status: http.StatusBadRequest, reason: "INVALID_DATA_FORMAT", message: "Request body is not valid JSON: " + err.Error()}
	}
	if c.route.body == listBody {
		if kind, there := body["kind"]; there && kind != c.route.kind {
			return invalid("kind", "'%v' is not one of ['%s']", kind, c.route.kind)
		}
		delete(body, "kind")
	}
	if problems := c.model.Check(c.route.body, body); problems != nil {
		return wrong(problems)
	}
	c.body = object(body).copied() // numbers are those of the objects that are kept
	return nil
}
