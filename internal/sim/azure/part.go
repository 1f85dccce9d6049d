// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// part is a resource inside another one, such as a subnet of a network.
type part[P any] struct {
	ID         string   `json:"id,omitempty"`
	Name       string   `json:"name,omitempty"`
	Type       string   `json:"type,omitempty"`
	ETag       string   `json:"etag,omitempty"`
	Zones      []string `json:"zones,omitempty"`
	Properties P        `json:"properties"`
}

// partKind is how the parts of a kind are read and written on their own.
type partKind struct {
	name string
	list func(shown any) []named
	// put and remove change a copy of the resource; nil: the parts are written with it only.
	put    func(o object, name string, body []byte) error
	remove func(o object, name string)
}

type named struct {
	name string
	part any
}

// partOf is the kind of the parts that get returns.
func partOf[T, P any](name string, writable bool, get func(*T) *[]part[P]) partKind {
	k := partKind{name: name, list: func(shown any) (out []named) {
		for _, p := range *get(shown.(*T)) {
			out = append(out, named{p.Name, p})
		}
		return out
	}}
	if !writable {
		return k
	}
	at := func(o object, name string) (*[]part[P], int) {
		all := get(any(o).(*T))
		return all, slices.IndexFunc(*all, func(p part[P]) bool { return strings.EqualFold(p.Name, name) })
	}
	k.put = func(o object, name string, body []byte) error {
		var p part[P]
		if err := decodeStrictly(body, &p, "Microsoft.Network"); err != nil {
			return err
		}
		p.Name = name
		if all, i := at(o, name); i >= 0 {
			(*all)[i] = p
		} else {
			*all = append(*all, p)
		}
		return nil
	}
	k.remove = func(o object, name string) {
		if all, i := at(o, name); i >= 0 {
			*all = slices.Delete(*all, i, i+1)
		}
	}
	return k
}

// servePart answers calls about the parts of a resource. A change of one is a change of the
// resource.
func (c *call) servePart(k *kind, p partKind, id resourceID) (answer, error) {
	verb := map[string]string{http.MethodGet: "read", http.MethodPut: "write", http.MethodDelete: "delete"}[c.method]
	if verb == "" || verb != "read" && (p.put == nil || !c.id.named()) {
		return answer{}, refuse(http.StatusMethodNotAllowed, "MethodNotAllowed", "The requested resource does not support http method '%s'.", c.method)
	}
	if err := c.authorize(k.name+"/"+p.name+"/"+verb, c.id.String()); err != nil {
		return answer{}, err
	}
	if !c.groupExists(id) {
		return answer{}, groupNotFound(id.group)
	}
	r := c.st.resources.ByID[id.key()]
	switch {
	case r == nil && verb == "write":
		return answer{}, refuse(http.StatusNotFound, "ParentResourceNotFound", "Can not perform requested operation on nested resource. Parent resource '%s' not found.", id.name())
	case r == nil && verb == "delete":
		return answer{status: http.StatusNoContent}, nil
	case r == nil:
		return answer{}, notFound(id)
	}
	if !c.id.named() {
		var out []any
		for _, one := range p.list(c.shown(k, r)) {
			out = append(out, one.part)
		}
		return c.page(out)
	}
	found := c.findPart(k, p, r)
	switch {
	case verb == "write":
		return c.changePart(k, p, id, r, found != nil)
	case found == nil && verb == "delete":
		return answer{status: http.StatusNoContent}, nil
	case found == nil:
		return answer{}, refuse(http.StatusNotFound, "NotFound", "Resource %s not found.", c.id)
	case verb == "delete":
		return c.changePart(k, p, id, r, true)
	}
	return ok(found)
}

func (c *call) findPart(k *kind, p partKind, r *record) any {
	for _, one := range p.list(c.shown(k, r)) {
		if strings.EqualFold(one.name, c.id.name()) {
			return one.part
		}
	}
	return nil
}

func (c *call) changePart(k *kind, p partKind, id resourceID, r *record, existed bool) (answer, error) {
	raw, err := json.Marshal(r.object)
	if err != nil {
		return answer{}, err
	}
	o := k.create()
	if err := json.Unmarshal(raw, o); err != nil {
		return answer{}, err
	}
	removes := c.method == http.MethodDelete
	if removes {
		p.remove(o, c.id.name())
	} else if err := p.put(o, c.id.name(), c.body); err != nil {
		return answer{}, err
	}
	got, err := c.store(k, id, o, r)
	switch {
	case err != nil:
		return answer{}, err
	case removes:
		got.status, got.body = http.StatusAccepted, nil
	case !existed:
		got.status = http.StatusCreated
	}
	if !removes {
		got.body = c.findPart(k, p, r)
	}
	return got, nil
}
