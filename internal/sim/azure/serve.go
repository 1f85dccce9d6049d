// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/front"
)

// call is a request that is carried out. It holds the lock of the platform.
type call struct {
	*Azure

	st     *state
	http   *http.Request
	id     resourceID
	rest   []string // of a path outside of resource providers
	query  url.Values
	method string
	body   []byte
	who    *actor
	now    time.Time
}

// answer is what a call is answered with.
type answer struct {
	status int
	body   any
	header http.Header
}

func ok(body any) (answer, error) { return answer{status: http.StatusOK, body: body}, nil }

// ServeHTTP answers a call that no fault has answered.
func (a *Azure) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.Lock()
	defer a.Unlock()
	a.respond(w, r, a.st)
}

// respond carries a request out on a state.
func (a *Azure) respond(w http.ResponseWriter, r *http.Request, st *state) {
	if isRetail(r) {
		a.serveRetail(w, r)
		return
	}
	if a.login(w, r) {
		return
	}
	got, err := a.carryOut(a.read(r, st))
	var refused refusal
	switch {
	case errors.As(err, &refused):
		writeRefusal(w, refused)
	case err != nil:
		writeRefusal(w, refuse(http.StatusInternalServerError, "InternalServerError", "%v", err))
	default:
		maps.Copy(w.Header(), got.header)
		writeJSON(w, got.status, got.body)
	}
}

func (a *Azure) read(r *http.Request, st *state) *call {
	c := &call{Azure: a, st: st, http: r, query: lowerKeys(r.URL.Query()), method: r.Method, body: front.Body(r), now: time.Now()}
	c.id, c.rest = parseID(r.URL.EscapedPath())
	return c
}

// lowerKeys has the parameters of a query by their names in lower case: the resource
// manager takes them in any.
func lowerKeys(query url.Values) url.Values {
	out := url.Values{}
	for key, values := range query {
		out[strings.ToLower(key)] = values
	}
	return out
}

func (a *Azure) carryOut(c *call) (answer, error) {
	var err error
	if c.who, err = a.authenticate(c); err != nil {
		return answer{}, err
	}
	if err := c.checkVersion(); err != nil {
		return answer{}, err
	}
	if c.id.subscription == "" {
		return c.serveTenant()
	}
	if !strings.EqualFold(c.id.subscription, a.seed.Subscription) {
		return answer{}, refuse(http.StatusNotFound, "SubscriptionNotFound", "The subscription '%s' could not be found.", c.id.subscription)
	}
	c.id.subscription = a.seed.Subscription
	switch strings.ToLower(c.id.provider) {
	case "":
		return c.serveSubscription()
	case "microsoft.authorization":
		return c.serveAuthorization()
	}
	if c.id.group == "" {
		return c.serveProvider()
	}
	return c.serveResource()
}

// serveTenant answers calls about no subscription.
func (c *call) serveTenant() (answer, error) {
	switch {
	case c.method == http.MethodGet && len(c.rest) == 1 && strings.EqualFold(c.rest[0], "subscriptions"):
		return c.page([]any{c.showSubscription()})
	case c.method == http.MethodGet && len(c.rest) == 1 && strings.EqualFold(c.rest[0], "tenants"):
		return c.page([]any{map[string]any{
			"id": "/tenants/" + c.seed.Tenant, "tenantId": c.seed.Tenant, "tenantCategory": "Home", "displayName": "Example",
			"defaultDomain": "example.onmicrosoft.com", "domains": []string{"example.onmicrosoft.com"},
		}})
	}
	return answer{}, unknownPath(c)
}

func unknownPath(c *call) refusal {
	return refuse(http.StatusNotFound, "InvalidResourceType", "The resource type could not be found in the namespace '%s' for api version '%s': %s %s.",
		c.id.provider, c.query.Get("api-version"), c.method, c.http.URL.Path)
}
