// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// kind is how the resources of a type behave.
type kind struct {
	name   string
	fault  fault.Resource
	create func() object
	rule   nameRule
	// hasETag: If-Match is honoured. onlyNew: If-None-Match is. The others ignore them.
	hasETag, onlyNew bool
	// zonal resources can be in a zone, skus have a SKU, identified an identity.
	zonal, skus, identified bool
	// synchronous resources are answered in their final state.
	synchronous bool
	created     int // status of the answer to a first PUT
	// check completes a resource, and refuses what is wrong. It has no effects.
	check func(c *call, r, before *record) error
	// links are the permissions on other resources that a PUT needs.
	links func(c *call, r *record) []link
	// apply has the effects of a PUT that was accepted; finish ends it later.
	apply  func(c *call, r, before *record) error
	finish func(a *Azure, r *record, o *operation)
	// removable refuses to delete, and end has the effects.
	removable func(c *call, r *record) error
	end       func(a *Azure, r *record)
	// show is what the API shows; nil: the resource.
	show    func(c *call, r *record) any
	parts   map[string]partKind
	actions map[string]func(c *call, r *record) (answer, error)
	reads   map[string]func(c *call, r *record) (answer, error)
}

// nameRule is what names of resources look like.
type nameRule struct {
	pattern *regexp.Regexp
	longest int
}

// kinds are all that exist, by their lower-case type.
func kinds() map[string]*kind {
	out := map[string]*kind{}
	for _, k := range slices.Concat(computeKinds(), networkKinds()) {
		out[strings.ToLower(k.name)] = k
	}
	out[strings.ToLower(groupKind)] = &kind{name: groupKind, create: func() object { return &group{} }}
	return out
}

// serveResource answers calls about resources in a resource group.
func (c *call) serveResource() (answer, error) {
	k, id := c.kinds[strings.ToLower(c.id.kind())], c.id
	if k != nil {
		return c.serveKind(k, id)
	}
	if len(id.types) > 1 {
		parent := id.parent()
		last := strings.ToLower(id.types[len(id.types)-1])
		if k = c.kinds[strings.ToLower(parent.kind())]; k != nil {
			return c.serveBelow(k, parent, last)
		}
	}
	return answer{}, unknownPath(c)
}

// canonical spells an ID as its type does.
func (k *kind) canonical(id resourceID) resourceID {
	parts := strings.Split(k.name, "/")
	id.provider, id.types = parts[0], parts[1:]
	return id
}

func (c *call) serveKind(k *kind, id resourceID) (answer, error) {
	id = k.canonical(id)
	verb, known := map[string]string{http.MethodGet: "read", http.MethodPut: "write", http.MethodPatch: "write", http.MethodDelete: "delete"}[c.method]
	if !known || !id.named() && c.method != http.MethodGet {
		return answer{}, refuse(http.StatusMethodNotAllowed, "MethodNotAllowed", "The requested resource does not support http method '%s'.", c.method)
	}
	if err := c.authorize(k.name+"/"+verb, id.String()); err != nil {
		return answer{}, err
	}
	if !c.groupExists(id) {
		return answer{}, groupNotFound(id.group)
	}
	if err := c.parentExists(k, id); err != nil {
		return answer{}, err
	}
	r := c.st.resources.ByID[id.key()]
	switch {
	case !id.named():
		return c.page(c.listed(k.name))
	case c.method == http.MethodPut:
		return c.put(k, id, r)
	case r == nil && c.method == http.MethodDelete:
		return answer{status: http.StatusNoContent}, nil
	case r == nil:
		return answer{}, notFound(id)
	case c.method == http.MethodGet:
		return ok(c.shown(k, r))
	case c.method == http.MethodPatch:
		return c.patch(k, id, r)
	}
	return c.remove(k, r)
}

func (c *call) groupExists(id resourceID) bool {
	return c.st.resources.ByID[resourceID{subscription: id.subscription, group: id.group}.key()] != nil
}

// parentExists refuses a resource whose parent does not exist.
func (c *call) parentExists(k *kind, id resourceID) error {
	if strings.Count(k.name, "/") == 1 {
		return nil
	}
	parent := id.parent()
	if c.st.resources.ByID[parent.key()] != nil {
		return nil
	}
	if c.method != http.MethodPut {
		return notFound(parent)
	}
	return refuse(http.StatusNotFound, "ParentResourceNotFound", "Can not perform requested operation on nested resource. Parent resource '%s' not found.", strings.Join(parent.names, "/"))
}

// serveBelow answers calls about a part of a resource, an action, or another view of it.
func (c *call) serveBelow(k *kind, id resourceID, below string) (answer, error) {
	name := c.id.types[len(c.id.types)-1]
	id = k.canonical(id)
	if p, isPart := k.parts[below]; isPart {
		return c.servePart(k, p, id)
	}
	serve, suffix := k.reads[below], "/read"
	if c.method == http.MethodPost {
		serve, suffix = k.actions[below], "/action"
	}
	if serve == nil || c.id.named() || c.method != http.MethodPost && c.method != http.MethodGet {
		return answer{}, unknownPath(c)
	}
	if err := c.authorize(k.name+"/"+name+suffix, id.String()); err != nil {
		return answer{}, err
	}
	if !c.groupExists(id) {
		return answer{}, groupNotFound(id.group)
	}
	r := c.st.resources.ByID[id.key()]
	if r == nil {
		return answer{}, notFound(id)
	}
	return serve(c, r)
}

// shown is a resource as the API shows it.
func (c *call) shown(k *kind, r *record) any {
	if k.show != nil {
		return k.show(c, r)
	}
	return r.object
}

// visible reports whether lists have a resource so far.
func (c *call) visible(r *record) bool { return !c.now.Before(r.Visible) }

// listed are the resources of a type in the scope of the call.
func (c *call) listed(kindName string) (out []any) {
	k := c.kinds[strings.ToLower(kindName)]
	prefix := c.id.key()
	if !c.id.named() && c.id.provider != "" {
		scope := c.id
		scope.provider, scope.types = "", nil
		if len(c.id.names) > 0 {
			scope = c.id.parent()
		} else {
			scope.names = nil
		}
		prefix = scope.key()
	}
	for _, r := range c.st.resources.Where(func(r *record) bool {
		return strings.EqualFold(r.top().Type, k.name) && strings.HasPrefix(keyOf(r.top().ID), prefix+"/") && c.visible(r)
	}) {
		out = append(out, c.shown(k, r))
	}
	return out
}

// decode reads the body of a call strictly: a property that the type does not have is
// refused.
func (c *call) decode(into any) error { return decodeStrictly(c.body, into, c.id.provider) }

var unknownField = regexp.MustCompile(`unknown field "(.*)"`)

func decodeStrictly(body []byte, into any, provider string) error {
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil && d.More() {
		err = errors.New("it has more than one value")
	}
	if err == nil {
		return nil
	}
	text := "The request content was invalid and could not be deserialized: '" + err.Error() + "'."
	if m := unknownField.FindStringSubmatch(err.Error()); m != nil {
		text = fmt.Sprintf("Could not find member '%s' on object of type 'ResourceDefinition'.", m[1])
		if strings.EqualFold(provider, "Microsoft.Compute") {
			return bad("BadRequest", "%s", text).about(m[1])
		}
	}
	if strings.EqualFold(provider, "Microsoft.Network") {
		r := bad("InvalidRequestFormat", "Cannot parse the request.")
		r.details = []refusal{{code: "InvalidJson", message: text}}
		return r
	}
	return bad("InvalidRequestContent", "%s", text)
}
