// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"net/netip"
)

func prepareAddress(c *call, r *resource) error {
	o := r.Object
	o.fill(object{"addressType": "EXTERNAL", "ipVersion": "IPV4", "labelFingerprint": labelFingerprint(o)})
	if o.str("ipVersion") != "IPV4" {
		return notSimulated("resource.ipVersion")
	}
	o["status"] = "RESERVING"
	if o.str("addressType") == "EXTERNAL" {
		o.fill(object{"networkTier": "PREMIUM"})
		if o.has("address") || o.has("subnetwork") {
			return invalid("resource.address", o.str("address"), "The address of an external address cannot be chosen.")
		}
		return c.checkQuota(locationOf(r.Path), "STATIC_ADDRESSES", 1)
	}
	if !o.has("subnetwork") {
		o["subnetwork"] = c.link("regions/" + locationOf(r.Path) + "/subnetworks/default")
	}
	s, err := c.reference(o, "subnetwork", "resource.subnetwork", "subnetworks", "regions/"+locationOf(r.Path))
	if err != nil {
		return err
	}
	o.fill(object{"purpose": "GCE_ENDPOINT"})
	if o.has("address") {
		return c.freeAddress("resource.address", s, o.str("address"))
	}
	return c.allow("compute.subnetworks.use", s.Path)
}

// freeAddress refuses an address that is not one of the subnetwork or is in use.
func (c *call) freeAddress(field string, subnetwork *resource, text string) error {
	address, err := netip.ParseAddr(text)
	prefix, prefixErr := netip.ParsePrefix(subnetwork.Object.str("ipCidrRange"))
	if err != nil || prefixErr != nil || !prefix.Contains(address) {
		return invalid(field, text, "Requested internal IP address is outside the subnetwork CIDR range.")
	}
	for _, collection := range []string{"instances", "addresses", "forwardingRules"} {
		for _, r := range c.st.tables[collection].ByID {
			if refers(map[string]any(r.Object), text) {
				return refuse("resourceInUseByAnotherResource", "IP_IN_USE_BY_ANOTHER_RESOURCE: IP '%s' is already being used by another resource.", text)
			}
		}
	}
	return nil
}

// addressID is what the datacenter calls a reserved address.
func addressID(r *resource) string { return "address-" + r.id() }

// reserveAddress is the effect of addresses.insert.
func reserveAddress(g *GCP, r *resource) error {
	subnet := publicSubnet
	if r.Object.str("addressType") == "INTERNAL" {
		c := g.self()
		path, _ := c.pathOf(r.Object.str("subnetwork"))
		s := g.st.get(path)
		if s == nil {
			return failure("RESOURCE_NOT_FOUND", "The resource '%s' was not found", g.full(path))
		}
		subnet = subnetID(s)
	}
	if r.Object.has("address") {
		return failure("UNSUPPORTED_OPERATION", "The simulated platform does not reserve an address of the caller's choice.")
	}
	if !g.Hosts {
		return failure("INTERNAL_ERROR", "Internal error.")
	}
	got, err := g.Options.Datacenter.Allocate(addressID(r), subnet)
	if err != nil {
		return failure("IP_SPACE_EXHAUSTED", "The IP space of '%s' is exhausted.", subnet)
	}
	r.Object["address"], r.Object["status"] = got.IP.String(), "RESERVED"
	return nil
}

// releaseAddress is the effect of addresses.delete.
func releaseAddress(g *GCP, r *resource) error {
	if !g.Hosts {
		return nil
	}
	return g.Options.Datacenter.Release(addressID(r))
}

// showAddress adds who uses an address.
func showAddress(c *call, r *resource, o object) {
	address := r.Object.str("address")
	if address == "" {
		return
	}
	var users []any
	for _, path := range c.addressUsers(address) {
		users = append(users, c.link(path))
	}
	if len(users) > 0 {
		o["status"], o["users"] = "IN_USE", users
	}
}

func (c *call) addressUsers(address string) []string {
	return c.st.users(address, "forwardingRules", "instances")
}

// addressWith returns the reserved address of a region with this text.
func (c *call) addressWith(region, text string) *resource {
	for _, r := range c.st.all("addresses") {
		if r.Object.str("address") == text && (region == "" || locationOf(r.Path) == region) {
			return r
		}
	}
	return nil
}
