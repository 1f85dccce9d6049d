// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"slices"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// prepareInstanceGroup checks an unmanaged instance group. Its network is that of its
// first member if it does not name one.
func prepareInstanceGroup(c *call, r *resource) error {
	o := r.Object
	if o.has("network") {
		if _, err := c.reference(o, "network", "resource.network", "networks", "global"); err != nil {
			return err
		}
	}
	if o.has("subnetwork") {
		if _, err := c.reference(o, "subnetwork", "resource.subnetwork", "subnetworks", "regions/"+regionOf(locationOf(r.Path))); err != nil {
			return err
		}
	}
	o["fingerprint"] = fingerprint(o["namedPorts"])
	return c.checkQuota(regionOf(locationOf(r.Path)), "INSTANCE_GROUPS", 1)
}

func showInstanceGroup(_ *call, r *resource, o object) { o["size"] = len(r.Members) }

// leaveGroups takes an instance out of all groups.
func (g *GCP) leaveGroups(path string) {
	for _, group := range g.st.tables["instanceGroups"].All() {
		if at := slices.Index(group.Members, path); at >= 0 {
			group.Members = slices.Delete(group.Members, at, at+1)
			g.st.put(group)
		}
	}
}

// namedInstances are the paths of the instances in a request.
func (c *call) namedInstances(o object) (out []string, err error) {
	for _, one := range o.subs("instances") {
		path, ok := c.pathOf(one.str("instance"))
		if !ok || collectionOf(path) != "instances" || locationOf(path) != c.params["zone"] {
			return nil, invalid("instances[0].instance", one.str("instance"), "The URL is malformed, or the instance is in another zone than the group.")
		}
		out = append(out, path)
	}
	if len(out) == 0 {
		return nil, required("instances")
	}
	return out, nil
}

func groupMethods() map[string]method {
	k := kindOf("instanceGroups")
	return map[string]method{
		"instanceGroups.addInstances":    change{k, fault.Update, "update", checkMembers, addMembers}.method(),
		"instanceGroups.removeInstances": change{k, fault.Update, "update", checkMembers, removeMembers}.method(),
		"instanceGroups.setNamedPorts":   change{k, fault.Update, "update", checkNamedPorts, setNamedPorts}.method(),
		"instanceGroups.listInstances":   {verb: fault.List, resource: fault.LoadBalancer, handle: listMembers},
	}
}

func checkMembers(c *call, _ *resource) error {
	all, err := c.namedInstances(c.body)
	if err != nil || c.method.Name != "instanceGroups.addInstances" {
		return err
	}
	for _, path := range all {
		if err := c.allow("compute.instances.use", path); err != nil {
			return err
		}
	}
	return nil
}

// addMembers is the effect of addInstances.
func addMembers(g *GCP, group *resource, body object) error {
	c := g.self()
	c.params = map[string]string{"zone": locationOf(group.Path)}
	all, err := c.namedInstances(body)
	if err != nil {
		return err
	}
	for _, path := range all {
		if err := g.checkMember(group, path); err != nil {
			return err
		}
	}
	group.Members = append(group.Members, all...)
	if !group.Object.has("network") {
		group.Object["network"] = g.st.get(all[0]).Object.subs("networkInterfaces")[0].str("network")
	}
	g.st.put(group)
	return g.applyAll()
}

func (g *GCP) checkMember(group *resource, path string) error {
	i := g.st.get(path)
	switch {
	case i == nil || i.Pending:
		return failure("RESOURCE_NOT_FOUND", "The resource '%s' was not found", g.full(path))
	case slices.Contains(group.Members, path):
		return failure("MEMBER_ALREADY_EXISTS", "Instance '%s' is already a member of '%s'.", g.full(path), g.full(group.Path))
	case group.Object.has("network") && i.Object.subs("networkInterfaces")[0].str("network") != group.Object.str("network"):
		return failure("INVALID_FIELD_VALUE", "The instance '%s' is not in the network of the group.", g.full(path))
	}
	for _, other := range g.st.all("instanceGroups") {
		if other != group && slices.Contains(other.Members, path) && g.balanced(other) && g.balanced(group) {
			return failure("INSTANCE_IN_MULTIPLE_LOAD_BALANCED_IGS", "Validation failed for instance '%s': instance may belong to at most one load-balanced instance group.", g.full(path))
		}
	}
	return nil
}

// balanced reports whether a backend service uses a group.
func (g *GCP) balanced(group *resource) bool {
	return len(g.st.users(g.link(group.Path), "backendServices")) > 0
}

// removeMembers is the effect of removeInstances.
func removeMembers(g *GCP, group *resource, body object) error {
	c := g.self()
	c.params = map[string]string{"zone": locationOf(group.Path)}
	all, err := c.namedInstances(body)
	if err != nil {
		return err
	}
	for _, path := range all {
		at := slices.Index(group.Members, path)
		if at < 0 {
			return failure("RESOURCE_NOT_FOUND", "Instance '%s' is not a member of '%s'.", g.full(path), g.full(group.Path))
		}
		group.Members = slices.Delete(group.Members, at, at+1)
	}
	g.st.put(group)
	return g.applyAll()
}

func checkNamedPorts(c *call, r *resource) error {
	if f := c.body.str("fingerprint"); f != "" && f != r.Object.str("fingerprint") {
		return conditionNotMet("Invalid fingerprint.")
	}
	return nil
}

func setNamedPorts(_ *GCP, r *resource, body object) error {
	r.Object["namedPorts"] = body["namedPorts"]
	r.Object["fingerprint"] = fingerprint(body["namedPorts"])
	return nil
}

// listMembers returns the instances of a group with their states.
func listMembers(c *call) (any, error) {
	k := kindOf("instanceGroups")
	if err := c.allow("compute.instanceGroups.list", c.path(k.collection, c.params["instanceGroup"])); err != nil {
		return nil, err
	}
	group, err := c.named(k)
	if err != nil {
		return nil, err
	}
	var all []object
	for _, path := range group.Members {
		i := c.st.get(path)
		if i == nil || c.body.str("instanceState") == running && i.state() != running {
			continue
		}
		all = append(all, object{"instance": c.link(path), "status": i.state()})
	}
	return c.page("compute#instanceGroupsListInstances", group.Path+"/listInstances", all)
}
