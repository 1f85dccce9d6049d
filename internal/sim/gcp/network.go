// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"net/netip"
	"slices"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// publicSubnet is where public addresses come from.
const publicSubnet = "public"

// publicPrefix has the public addresses of the simulated region.
func publicPrefix() netip.Prefix { return netip.MustParsePrefix("34.89.0.0/16") }

// natAddress is the public address of Cloud NAT.
func natAddress() netip.Addr { return netip.MustParseAddr("34.89.0.4") }

func prepareNetwork(c *call, r *resource) error {
	o := r.Object
	if o.bool("autoCreateSubnetworks") {
		return notSimulated("resource.autoCreateSubnetworks")
	}
	if o.has("IPv4Range") {
		return invalid("resource.IPv4Range", o.str("IPv4Range"), "Legacy networks can no longer be created.")
	}
	o.fill(object{"autoCreateSubnetworks": false, "routingConfig": object{"routingMode": "REGIONAL"}})
	return c.checkQuota("", "NETWORKS", 1)
}

// showNetwork adds the subnetworks of a network.
func showNetwork(c *call, r *resource, o object) {
	var out []any
	for _, s := range c.st.all("subnetworks") {
		if s.Object.str("network") == c.link(r.Path) {
			out = append(out, c.link(s.Path))
		}
	}
	if len(out) > 0 {
		o["subnetworks"] = out
	}
}

func prepareSubnetwork(c *call, r *resource) error {
	o := r.Object
	if _, err := c.reference(o, "network", "resource.network", "networks", "global"); err != nil {
		return err
	}
	prefix, err := netip.ParsePrefix(o.str("ipCidrRange"))
	if err != nil || !prefix.Addr().Is4() || prefix.Masked() != prefix {
		return invalid("resource.ipCidrRange", o.str("ipCidrRange"), "Must be a CIDR address range that is contained in a private range.")
	}
	for _, other := range c.st.tables["subnetworks"].ByID {
		if other.Object.str("network") == o.str("network") && overlaps(other.Object.str("ipCidrRange"), prefix) {
			return invalid("resource.ipCidrRange", prefix.String(), "Invalid IPCidrRange: %s conflicts with existing subnetwork '%s' in region '%s'.", prefix, other.name(), locationOf(other.Path))
		}
	}
	o.fill(object{
		"gatewayAddress": prefix.Addr().Next().String(), "privateIpGoogleAccess": false, "purpose": "PRIVATE", "stackType": "IPV4_ONLY", "fingerprint": fingerprint(prefix.String()),
	})
	return c.checkQuota("", "SUBNETWORKS", 1)
}

func overlaps(cidr string, prefix netip.Prefix) bool {
	other, err := netip.ParsePrefix(cidr)
	return err == nil && other.Overlaps(prefix)
}

// addSubnets has the datacenter know all subnetworks, and where public addresses are.
func (g *GCP) addSubnets() error {
	low := publicPrefix().Addr()
	public := datacenter.Subnet{Prefix: publicPrefix(), Reserved: []datacenter.Range{{From: low, To: natAddress()}}}
	if err := g.Options.Datacenter.AddSubnet(publicSubnet, public); err != nil {
		return err
	}
	for _, r := range g.st.all("subnetworks") {
		if err := g.addSubnet(r); err != nil {
			return err
		}
	}
	return nil
}

// subnetID is what the datacenter calls a subnetwork in a zone. Subnetworks are regional,
// and the zone of a machine is not that of its addresses.
func subnetID(r *resource) string { return "subnetwork-" + r.id() }

func (g *GCP) addSubnet(r *resource) error {
	prefix, err := netip.ParsePrefix(r.Object.str("ipCidrRange"))
	if err != nil {
		return err
	}
	s := datacenter.Subnet{Prefix: prefix, Private: true}
	if g.hasNAT(r) {
		s.Egress = natAddress()
	}
	return g.Options.Datacenter.AddSubnet(subnetID(r), s)
}

func (g *GCP) removeSubnet(r *resource) error {
	return g.Options.Datacenter.RemoveSubnet(subnetID(r))
}

// hasNAT reports whether Cloud NAT serves a subnetwork.
func (g *GCP) hasNAT(subnetwork *resource) bool {
	return slices.ContainsFunc(g.st.all("routers"), func(r *resource) bool {
		return r.Object.str("network") == subnetwork.Object.str("network") && locationOf(r.Path) == locationOf(subnetwork.Path) && len(r.Object.subs("nats")) > 0
	})
}

// networkChanged brings the datacenter in line with routers.
func (g *GCP) networkChanged(*resource) error {
	if !g.Hosts {
		return nil
	}
	return g.addSubnets()
}

func prepareRoute(c *call, r *resource) error {
	o := r.Object
	if _, err := c.reference(o, "network", "resource.network", "networks", "global"); err != nil {
		return err
	}
	if _, err := netip.ParsePrefix(o.str("destRange")); err != nil {
		return invalid("resource.destRange", o.str("destRange"), "Must be a valid CIDR range.")
	}
	o.fill(object{"priority": 1000.0})
	return c.checkQuota("", "ROUTES", 1)
}

func prepareRouter(c *call, r *resource) error {
	if _, err := c.reference(r.Object, "network", "resource.network", "networks", "global"); err != nil {
		return err
	}
	return checkNATs(c.body)
}

func checkNATs(o object) error {
	for _, nat := range o.subs("nats") {
		if !nat.has("natIpAllocateOption") || !nat.has("sourceSubnetworkIpRangesToNat") {
			return required("resource.nats[0].natIpAllocateOption")
		}
	}
	return nil
}

func networkMethods() map[string]method {
	firewalls := kindOf("firewalls")
	return map[string]method{
		"routers.getRouterStatus": {verb: fault.Get, resource: fault.Network, handle: routerStatus},
		"routers.patch":           change{kindOf("routers"), fault.Update, "update", func(c *call, _ *resource) error { return checkNATs(c.body) }, patchRouter}.method(),
		"firewalls.patch":         change{firewalls, fault.Update, "update", checkFirewallChange, patchFirewall}.method(),
		"firewalls.update":        change{firewalls, fault.Update, "update", checkFirewallChange, patchFirewall}.method(),
	}
}

// routerStatus returns the addresses that Cloud NAT has outside.
func routerStatus(c *call) (any, error) {
	k := kindOf("routers")
	if err := c.allow("compute.routers.get", c.path(k.collection, c.params["router"])); err != nil {
		return nil, err
	}
	r, err := c.named(k)
	if err != nil {
		return nil, err
	}
	status := []any{}
	for _, nat := range r.Object.subs("nats") {
		status = append(status, object{"name": nat.str("name"), "autoAllocatedNatIps": []any{natAddress().String()}, "minExtraNatIpsNeeded": 0})
	}
	return object{"kind": "compute#routerStatusResponse", "result": object{"network": r.Object.str("network"), "natStatus": status}}, nil
}

func patchRouter(g *GCP, r *resource, body object) error {
	merge(r.Object, body)
	return g.networkChanged(r)
}

// merge takes the fields of a body over into an object.
func merge(o, body object) {
	for key, value := range body {
		if key[0] != '?' && !slices.Contains(outputs(), key) && key != "name" {
			o[key] = value
		}
	}
}
