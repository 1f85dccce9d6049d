// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/front"
)

// route is a call that the API has.
type route struct {
	method string
	words  []string // of the path; {name} is a parameter, and the last one takes the rest
	verb   fault.Verb
	// resource is what the call is about, in the words of a fault plan.
	resource fault.Resource
	params   *schema
	// allow refuses callers before parameters are checked; nil: all users may call.
	allow allow
	// public calls need no credentials.
	public bool
	// proxied calls are answered by the node that they name.
	proxied bool
	upload  bool
	handle  carry
}

// call is a request that is carried out. It holds the lock of the platform.
type call struct {
	*PVE
	st     *state
	route  *route
	path   string // below /api2/json
	params map[string]string
	who    string
	token  bool // the caller has an API token
	// powerless callers have lost all privileges, as a fault plan says.
	powerless bool
	now       time.Time
	file      *upload
}

const base = "/api2/json"

// find returns the route of a request with the parameters of its path.
func (p *PVE) find(r *http.Request) (*route, map[string]string) {
	path, found := strings.CutPrefix(r.URL.Path, base)
	if !found {
		return nil, nil
	}
	words := strings.Split(strings.Trim(path, "/"), "/")
	for i := range p.routes {
		if p.routes[i].method != r.Method {
			continue
		}
		if params, fits := p.routes[i].match(words); fits {
			return &p.routes[i], params
		}
	}
	return nil, nil
}

func (t *route) match(words []string) (map[string]string, bool) {
	params := map[string]string{}
	last := len(t.words) - 1
	if len(words) > len(t.words) && t.words[last] == "{volume}" {
		words = append(slices.Clone(words[:last]), strings.Join(words[last:], "/"))
	}
	if len(words) != len(t.words) {
		return nil, false
	}
	for i, word := range t.words {
		if name, is := strings.CutPrefix(word, "{"); is {
			params[strings.TrimSuffix(name, "}")] = words[i]
		} else if word != words[i] {
			return nil, false
		}
	}
	return params, true
}

// ServeHTTP answers a call that no fault has answered.
func (p *PVE) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.serve(w, r, &call{PVE: p, st: p.st, now: time.Now()})
}

// serve carries a request out under the lock, and answers it without: a caller that reads a
// listing slowly holds up no others.
func (p *PVE) serve(w http.ResponseWriter, r *http.Request, c *call) {
	p.Lock()
	answer, err := c.answer(r)
	p.Unlock()
	write(w, answer, err)
}

// answer carries a request out and returns the body of the answer.
func (c *call) answer(r *http.Request) ([]byte, error) {
	result, err := c.carryOut(r)
	if err != nil {
		return nil, err
	}
	return encode(result)
}

func (c *call) carryOut(r *http.Request) (any, error) {
	c.path = strings.TrimPrefix(r.URL.Path, base)
	if !strings.HasPrefix(r.URL.Path, base+"/") {
		return nil, server(http.StatusNotImplemented, "no such uri")
	}
	var fromPath map[string]string
	if c.route, fromPath = c.find(r); c.route == nil {
		c.route = &route{}
		if err := c.authenticate(r); err != nil {
			return nil, err
		}
		return nil, refusal{status: http.StatusNotImplemented, message: "Method '" + r.Method + " " + c.path + "' not implemented"}
	}
	if err := c.authenticate(r); err != nil {
		return nil, err
	}
	if err := c.read(r, fromPath); err != nil {
		return nil, err
	}
	if err := c.authorize(); err != nil {
		return nil, err
	}
	if err := c.proxy(); err != nil {
		return nil, err
	}
	wrong := problems{}
	c.route.params.check("", c.params, wrong)
	if len(wrong) > 0 {
		return nil, wrongParams(wrong)
	}
	return c.route.handle(c)
}

// read takes the parameters of path, query and body.
func (c *call) read(r *http.Request, fromPath map[string]string) error {
	if slices.Contains(r.TransferEncoding, "chunked") {
		return server(http.StatusNotImplemented, "chunked transfer encoding not supported")
	}
	given, err := c.readBody(r)
	if err != nil {
		return err
	}
	for name, values := range r.URL.Query() {
		given[name] = values[len(values)-1]
	}
	delete(given, "_dc")
	c.params = fromPath
	for name, value := range given {
		if before, twice := c.params[name]; twice && before != value {
			return wrongParam(name, "duplicate parameter (already defined in URI) with conflicting values!")
		}
		c.params[name] = value
	}
	return nil
}

func (c *call) readBody(r *http.Request) (map[string]string, error) {
	if r.ContentLength <= 0 {
		return map[string]string{}, nil
	}
	if r.Method != http.MethodPost && r.Method != http.MethodPut {
		return nil, server(http.StatusNotImplemented, "Unexpected content for method '%s'", r.Method)
	}
	header := r.Header.Get("Content-Type")
	kind, options, _ := mime.ParseMediaType(header)
	switch {
	case c.route.upload:
		if err := c.need("/storage/"+storageOf(c.path), "Datastore.AllocateTemplate"); err != nil {
			return nil, err
		}
		return c.readUpload(r, kind, options["boundary"])
	case kind == "application/json":
		return readJSON(front.Body(r))
	case kind == "" || kind == "application/x-www-form-urlencoded":
		return readForm(front.Body(r))
	}
	return nil, server(506, "upload 'Content-Type '%s' not implemented", header)
}

func readForm(body []byte) (map[string]string, error) {
	values, err := url.ParseQuery(strings.ReplaceAll(string(body), ";", "&"))
	if err != nil {
		return nil, fail("unable to parse the request: %v", err)
	}
	out := map[string]string{}
	for name, all := range values {
		out[name] = all[len(all)-1]
	}
	return out, nil
}

// readJSON reads parameters of a JSON body. Numbers are as good as strings.
func readJSON(body []byte) (map[string]string, error) {
	values := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&values); err != nil {
		return nil, fail("malformed JSON string, %v", err)
	}
	out := map[string]string{}
	for name, value := range values {
		switch v := value.(type) {
		case string:
			out[name] = v
		case json.Number:
			out[name] = v.String()
		case bool:
			out[name] = map[bool]string{true: "1", false: "0"}[v]
		case nil:
		default:
			return nil, wrongParam(name, "type check ('string') failed - got ARRAY")
		}
	}
	return out, nil
}

// authorize refuses callers without the privileges of the call.
func (c *call) authorize() error {
	if c.token && c.route.public {
		return denied("")
	}
	if c.route.public || c.isRoot() || c.route.allow == nil {
		return nil
	}
	return c.route.allow(c)
}

// proxy refuses calls to nodes that do not answer.
func (c *call) proxy() error {
	name, named := c.params["node"]
	if !c.route.proxied || !named || name == "localhost" {
		return nil
	}
	n := c.node(name)
	switch {
	case n == nil:
		return fail("hostname lookup '%s' failed - failed to get address info for: %s: Name or service not known", name, name)
	case n.Offline:
		return server(595, "No route to host")
	}
	return nil
}

// local is the node that answers calls to the API.
func (p *PVE) local() string { return p.seed.Nodes[0].Name }

// at is the node that a call names.
func (c *call) at() string {
	if name := c.params["node"]; name != "localhost" {
		return name
	}
	return c.local()
}

// guest returns the VM of a call on the node that it names.
func (c *call) guest() (*guest, error) {
	g := c.st.guests.ByID[c.params["vmid"]]
	if g == nil || g.Node != c.at() {
		return nil, fail("Configuration file 'nodes/%s/qemu-server/%s.conf' does not exist", c.at(), c.params["vmid"])
	}
	return g, nil
}
