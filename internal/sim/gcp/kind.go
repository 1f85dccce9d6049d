// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// method is how calls of one method are carried out, and what they are to faults and to
// the record of writes.
type method struct {
	verb     fault.Verb
	resource fault.Resource
	handle   func(*call) (any, error)
	// apply carries its operation out later; nil: it has none. It takes the lock.
	apply func(*GCP, task) error
}

// kind is a collection of resources and what differs from the other ones.
type kind struct {
	collection string         // in paths, such as healthChecks
	noun       string         // of methods, such as regionHealthChecks
	word       string         // in messages, such as health_check
	name       string         // in the field kind, such as healthCheck
	resource   fault.Resource // to faults
	static     bool           // resources of it are not created by calls
	aggregated bool
	// users are the collections whose resources keep one from being deleted.
	users []string
	// prepare checks what is to be created, and sets defaults.
	prepare func(*call, *resource) error
	// created and removed carry out what creation and deletion have as an effect.
	created func(*GCP, *resource) error
	removed func(*GCP, *resource) error
	// show adds what is computed; nil: nothing is.
	show func(*call, *resource, object)
	// insert and remove replace what other kinds do.
	insert, remove func(*call) (any, error)
}

func kinds() []kind {
	return []kind{
		{collection: "zones", noun: "zones", name: "zone", static: true},
		{collection: "regions", noun: "regions", name: "region", static: true, show: showRegion},
		{collection: "machineTypes", noun: "machineTypes", name: "machineType", static: true, aggregated: true},
		{collection: "diskTypes", noun: "diskTypes", name: "diskType", static: true, aggregated: true},
		{collection: "images", noun: "images", name: "image", word: "image", resource: fault.Image, prepare: prepareImage},
		{
			collection: "instances", noun: "instances", name: "instance", word: "instance", resource: fault.Machine, aggregated: true,
			insert: insertInstance, remove: deleteInstance, show: showInstance,
		},
		{
			collection: "disks", noun: "disks", name: "disk", word: "disk", resource: fault.Disk, aggregated: true, users: []string{"instances"},
			prepare: prepareDisk, show: showDisk,
		},
		{
			collection: "networks", noun: "networks", name: "network", word: "network", resource: fault.Network,
			users: []string{"subnetworks", "firewalls", "routers", "routes", "instances"}, prepare: prepareNetwork, show: showNetwork,
		},
		{
			collection: "subnetworks", noun: "subnetworks", name: "subnetwork", word: "subnetwork", resource: fault.Network, aggregated: true,
			users: []string{"instances", "addresses", "forwardingRules"}, prepare: prepareSubnetwork, created: (*GCP).addSubnet, removed: (*GCP).removeSubnet,
		},
		{
			collection: "firewalls", noun: "firewalls", name: "firewall", word: "firewall", resource: fault.Network,
			prepare: prepareFirewall, created: (*GCP).firewallChanged, removed: (*GCP).firewallChanged,
		},
		{collection: "routes", noun: "routes", name: "route", word: "route", resource: fault.Network, prepare: prepareRoute},
		{
			collection: "routers", noun: "routers", name: "router", word: "router", resource: fault.Network, aggregated: true,
			prepare: prepareRouter, created: (*GCP).networkChanged, removed: (*GCP).networkChanged,
		},
		{
			collection: "addresses", noun: "addresses", name: "address", word: "address", resource: fault.Network, aggregated: true,
			users: []string{"forwardingRules", "instances"}, prepare: prepareAddress, created: reserveAddress, removed: releaseAddress, show: showAddress,
		},
		{
			collection: "healthChecks", noun: "regionHealthChecks", name: "healthCheck", word: "health_check", resource: fault.LoadBalancer,
			users: []string{"backendServices"}, prepare: prepareHealthCheck,
		},
		{
			collection: "backendServices", noun: "regionBackendServices", name: "backendService", word: "backend_service", resource: fault.LoadBalancer,
			users: []string{"forwardingRules"}, prepare: prepareBackendService,
		},
		{
			collection: "instanceGroups", noun: "instanceGroups", name: "instanceGroup", word: "instance_group", resource: fault.LoadBalancer, aggregated: true,
			users: []string{"backendServices"}, prepare: prepareInstanceGroup, show: showInstanceGroup,
		},
		{
			collection: "forwardingRules", noun: "forwardingRules", name: "forwardingRule", word: "forwarding_rule", resource: fault.LoadBalancer, aggregated: true,
			prepare: prepareForwardingRule, created: (*GCP).forward, removed: (*GCP).unforward,
		},
	}
}

func kindOf(collection string) kind {
	for _, k := range kinds() {
		if k.collection == collection {
			return k
		}
	}
	return kind{}
}

// methods are all that are served, by name.
func methods() map[string]method {
	out := map[string]method{}
	for _, k := range kinds() {
		maps.Copy(out, k.methods())
	}
	for _, some := range []map[string]method{
		operationMethods(), projectMethods(), imageMethods(), instanceMethods(), diskMethods(), networkMethods(), balancerMethods(), labelMethods(),
	} {
		maps.Copy(out, some)
	}
	return out
}

// methods are those that most kinds have.
func (k kind) methods() map[string]method {
	out := map[string]method{
		k.noun + ".get":  {verb: fault.Get, resource: k.resource, handle: k.get},
		k.noun + ".list": {verb: fault.List, resource: k.resource, handle: k.list},
	}
	if k.aggregated {
		out[k.noun+".aggregatedList"] = method{verb: fault.List, resource: k.resource, handle: k.aggregatedList}
	}
	if k.static {
		return out
	}
	insert, remove := method{fault.Create, k.resource, k.create, k.applyCreate}, method{fault.Delete, k.resource, k.delete, k.applyDelete}
	if k.insert != nil {
		insert.handle, remove.handle, insert.apply, remove.apply = k.insert, k.remove, applyInsert, applyRemove
	}
	out[k.noun+".insert"], out[k.noun+".delete"] = insert, remove
	return out
}

// named returns the resource that a call names, by name or by number.
func (c *call) named(k kind) (*resource, error) {
	name := c.params[resourceParam(c.method.Name)]
	path := c.path(k.collection, name)
	if k.static && (k.collection == "zones" || k.collection == "regions") {
		path = k.collection + "/" + name
	}
	if r := c.st.ready(path); r != nil {
		return r, nil
	}
	if k.collection == "machineTypes" {
		if t, err := c.typeNamed("", c.params["zone"], name); err == nil {
			return &resource{Object: t.object(c.GCP, c.params["zone"]), Path: path}, nil // a custom one
		}
	}
	for _, r := range c.st.all(k.collection) {
		if r.id() == name && strings.HasPrefix(r.Path, c.scope()+"/") {
			return r, nil
		}
	}
	return nil, c.notFound(path)
}

func (k kind) get(c *call) (any, error) {
	if err := c.allow("compute."+k.noun+".get", c.path(k.collection, c.params[resourceParam(c.method.Name)])); err != nil {
		return nil, err
	}
	r, err := c.named(k)
	if err != nil {
		return nil, err
	}
	return k.shown(c, r), nil
}

// shown is a resource as the API shows it. Parts that are added to are copied.
func (k kind) shown(c *call, r *resource) object {
	if k.show == nil {
		return r.Object
	}
	out := maps.Clone(r.Object)
	k.show(c, r, out)
	return out
}

// listed are the resources of a kind that lists show now.
func (k kind) listed(c *call, prefix string) (out []object) {
	for _, r := range c.st.all(k.collection) {
		if strings.HasPrefix(r.Path, prefix) && !c.now.Before(r.Visible) && (prefix != "" || !strings.HasPrefix(r.Path, "projects/")) {
			out = append(out, k.shown(c, r))
		}
	}
	return out
}

func (k kind) list(c *call) (any, error) {
	if err := c.allow("compute."+k.noun+".list", ""); err != nil {
		return nil, err
	}
	prefix := strings.TrimSuffix(c.path(k.collection, ""), "/")
	if k.collection == "zones" || k.collection == "regions" {
		prefix = k.collection
	}
	return c.page("compute#"+k.name+"List", prefix, k.listed(c, prefix+"/"))
}

func (k kind) aggregatedList(c *call) (any, error) {
	if err := c.allow("compute."+k.noun+".list", ""); err != nil {
		return nil, err
	}
	return c.aggregated("compute#"+k.name+"AggregatedList", k.collection, k.listed(c, ""))
}

// outputs are fields that the platform sets, whatever a request has there.
func outputs() []string {
	return []string{"id", "creationTimestamp", "selfLink", "kind", "status", "zone", "region", "fingerprint", "labelFingerprint", "users"}
}

// newResource returns what a call asks for, before it is checked.
func (c *call) newResource(k kind, name string, body object) *resource {
	path := c.path(k.collection, name)
	o := body.without(outputs()...)
	o["kind"], o["id"], o["name"], o["selfLink"] = "compute#"+k.name, newID(), name, c.link(path)
	o["creationTimestamp"] = stamp(c.now)
	if place, location, _ := strings.Cut(c.scope(), "/"); location != "" {
		o[strings.TrimSuffix(place, "s")] = c.link(c.scope())
	}
	return &resource{Object: o, Path: path}
}

// create begins to create a resource.
func (k kind) create(c *call) (any, error) {
	if again, err := c.repeated(); err != nil || again != nil {
		return again, err
	}
	name := c.body.str("name")
	if err := c.allowCreate(k, c.path(k.collection, name)); err != nil {
		return nil, err
	}
	if name == "" {
		return nil, required("resource.name")
	}
	r := c.newResource(k, name, c.body)
	if c.st.get(r.Path) != nil {
		return nil, c.exists(r.Path)
	}
	if err := checkLabels(r.Object); err != nil {
		return nil, err
	}
	if err := k.prepare(c, r); err != nil {
		return nil, err
	}
	r.Pending = k.collection != "addresses" // which show that they are being reserved
	c.st.put(r)
	c.auditResource(r)
	return c.begin(r.Path, r.id(), nil)
}

func (k kind) applyCreate(g *GCP, t task) error {
	g.Lock()
	defer g.Unlock()
	r := g.st.get(t.Path)
	if r == nil {
		return errGone
	}
	if k.created != nil {
		if err := k.created(g, r); err != nil {
			g.drop(r)
			return err
		}
	}
	r.Pending = false
	g.st.put(r)
	return nil
}

// drop removes a resource.
func (g *GCP) drop(r *resource) {
	g.st.remove(r.Path)
	g.Options.Auditor.Gone(kindOf(r.collection()).resource, r.id())
}

// delete begins to delete a resource.
func (k kind) delete(c *call) (any, error) {
	if again, err := c.repeated(); err != nil || again != nil {
		return again, err
	}
	if err := c.allowDelete(k); err != nil {
		return nil, err
	}
	r, err := c.named(k)
	if err != nil {
		return nil, err
	}
	if r.Deleting {
		return nil, c.notReady(r.Path)
	}
	if users := c.usersOf(k, r); len(users) > 0 {
		return nil, refuse("resourceInUseByAnotherResource", "The %s resource '%s' is already being used by '%s'", k.word, c.full(r.Path), c.full(users[0]))
	}
	r.Deleting = true
	c.st.put(r)
	return c.begin(r.Path, r.id(), nil)
}

// usersOf are the paths of what keeps a resource from being deleted.
func (c *call) usersOf(k kind, r *resource) []string {
	if address := r.Object.str("address"); k.collection == "addresses" && address != "" {
		return c.addressUsers(address)
	}
	return c.st.users(c.link(r.Path), k.users...)
}

func (k kind) applyDelete(g *GCP, t task) error {
	g.Lock()
	defer g.Unlock()
	r := g.st.get(t.Path)
	if r == nil {
		return nil
	}
	g.st.remove(r.Path)
	if k.removed != nil {
		if err := k.removed(g, r); err != nil {
			r.Deleting = false
			g.st.put(r)
			return err
		}
	}
	g.drop(r)
	return nil
}

// change is how a method changes a resource that exists.
type change struct {
	kind       kind
	verb       fault.Verb
	permission string // after compute.NOUN.
	// check refuses a call, apply changes the resource later.
	check func(*call, *resource) error
	apply func(*GCP, *resource, object) error
}

func (x change) method() method {
	return method{verb: x.verb, resource: x.kind.resource, handle: x.handle, apply: x.carryOut}
}

func (x change) handle(c *call) (any, error) {
	if again, err := c.repeated(); err != nil || again != nil {
		return again, err
	}
	path := c.path(x.kind.collection, c.params[resourceParam(c.method.Name)])
	if err := c.allow(fmt.Sprintf("compute.%s.%s", x.kind.noun, x.permission), path); err != nil {
		return nil, err
	}
	r, err := c.named(x.kind)
	if err != nil {
		return nil, err
	}
	if r.Deleting {
		return nil, c.notReady(r.Path)
	}
	if x.check != nil {
		if err := x.check(c, r); err != nil {
			return nil, err
		}
	}
	body := c.body
	if body == nil {
		body = object{}
	}
	for name := range c.query {
		if _, known := c.method.Params[name]; known && name != "requestId" {
			body["?"+name] = c.query.Get(name)
		}
	}
	return c.begin(r.Path, r.id(), body)
}

func (x change) carryOut(g *GCP, t task) error {
	g.Lock()
	defer g.Unlock()
	r := g.st.get(t.Path)
	if r == nil {
		return errGone
	}
	if err := x.apply(g, r, t.Body); err != nil {
		return err
	}
	if g.st.get(t.Path) == r {
		g.st.put(r)
		g.auditResource(r)
	}
	return nil
}

// call returns a call of the simulator itself.
func (g *GCP) self() *call {
	return &call{GCP: g, st: g.st, now: time.Now(), who: principal{Admin: true}}
}
