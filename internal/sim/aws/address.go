// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// publicSubnet is where public addresses come from.
const publicSubnet = "public"

// publicPrefix has the public addresses of the simulated region.
func publicPrefix() netip.Prefix { return netip.MustParsePrefix("3.120.0.0/16") }

// natAddress is the public address of the NAT gateway.
func natAddress() netip.Addr { return netip.MustParseAddr("3.120.0.4") }

// address is an Elastic IP address.
type address struct {
	ID, IP      string
	Association string
	Instance    string
	Tags        tags
}

// autoAddress is the ID, in the datacenter, of the public address that an instance got at
// its launch.
func autoAddress(instance string) string { return "auto-" + instance }

// publicAddress gives an instance a public address; empty: none is left.
func (c *call) publicAddress(instance string) string {
	got, err := c.Options.Datacenter.Allocate(autoAddress(instance), publicSubnet)
	if err == nil {
		err = c.Options.Datacenter.Associate(got.ID, instance)
	}
	if err != nil {
		c.Options.Log.Error("allocate a public address", "instance", instance, "err", err)
		return ""
	}
	return got.IP.String()
}

// releasePublic gives the public address of an instance back, and dissociates others.
func (a *AWS) releasePublic(instance string) {
	for _, e := range a.st.addresses.Where(func(e *address) bool { return e.Instance == instance }) {
		e.Instance, e.Association = "", ""
		a.st.addresses.Put(e.ID, e)
	}
	if !a.Hosts {
		return
	}
	if _, known := a.Options.Datacenter.StaticAddress(autoAddress(instance)); !known {
		return
	}
	if err := a.Options.Datacenter.Release(autoAddress(instance)); err != nil {
		a.Options.Log.Error("release a public address", "instance", instance, "err", err)
	}
}

func allocateAddress(c *call) (fields, error) {
	tagged, err := c.specifiedTags("elastic-ip")
	if err != nil {
		return nil, err
	}
	if len(c.st.addresses.ByID) >= 5 {
		return nil, refuse("AddressLimitExceeded", "The maximum number of addresses has been reached.")
	}
	if err := c.dryRun(); err != nil {
		return nil, err
	}
	e := &address{ID: newID("eipalloc"), Tags: tagged["elastic-ip"]}
	got, err := c.Options.Datacenter.Allocate(e.ID, publicSubnet)
	if err != nil {
		return nil, refuse("InsufficientAddressCapacity", "Not enough addresses available to satisfy the request.")
	}
	e.IP = got.IP.String()
	c.st.addresses.Put(e.ID, e)
	return fields{"publicIp", e.IP, "allocationId", e.ID, "domain", "vpc", "publicIpv4Pool", "amazon", "networkBorderGroup", c.seed.Region}, nil
}

func (c *call) elastic(id string) (*address, error) {
	if e := c.st.addresses.ByID[id]; e != nil {
		return e, nil
	}
	return nil, refuse("InvalidAllocationID.NotFound", "The allocation ID '%s' does not exist", id)
}

func releaseAddress(c *call) (fields, error) {
	e, err := c.elastic(c.params.String("AllocationId"))
	if err != nil {
		return nil, err
	}
	if e.Association != "" {
		return nil, refuse("InvalidIPAddress.InUse", "Address %s is in use.", e.IP)
	}
	if err := c.dryRun(); err != nil {
		return nil, err
	}
	c.st.addresses.Remove(e.ID)
	return fields{"return", true}, c.Options.Datacenter.Release(e.ID)
}

func associateAddress(c *call) (fields, error) {
	e, err := c.elastic(c.params.String("AllocationId"))
	if err != nil {
		return nil, err
	}
	i, err := c.oneInstance()
	if err != nil {
		return nil, err
	}
	n := c.primary(i)
	switch {
	case n == nil:
		return nil, refuse("InvalidInstanceID", "The instance '%s' is not in a valid state for this operation.", i.ID)
	case e.Association != "" && e.Instance != i.ID:
		return nil, refuse("Resource.AlreadyAssociated", "resource %s is already associated with associate-id %s", e.ID, e.Association)
	}
	if err := c.dryRun(); err != nil {
		return nil, err
	}
	if err := c.Options.Datacenter.Associate(e.ID, i.ID); err != nil {
		return nil, err
	}
	e.Instance, e.Association, n.Public = i.ID, newID("eipassoc"), e.IP
	c.st.addresses.Put(e.ID, e)
	c.st.interfaces.Put(n.ID, n)
	return fields{"return", true, "associationId", e.Association}, nil
}

func disassociateAddress(c *call) (fields, error) {
	id := c.params.String("AssociationId")
	found := c.st.addresses.Where(func(e *address) bool { return e.Association == id && id != "" })
	if len(found) == 0 {
		return nil, refuse("InvalidAssociationID.NotFound", "The association ID '%s' does not exist", id)
	}
	if err := c.dryRun(); err != nil {
		return nil, err
	}
	e := found[0]
	for _, n := range c.st.interfaces.Where(func(n *networkInterface) bool { return n.Public == e.IP }) {
		n.Public = ""
		c.st.interfaces.Put(n.ID, n)
	}
	e.Instance, e.Association = "", ""
	c.st.addresses.Put(e.ID, e)
	return fields{"return", true}, c.Options.Datacenter.Associate(e.ID, "")
}

func describeAddresses(c *call) (fields, error) {
	all, err := named(c, c.st.addresses, "AllocationId", func(ids []string) error {
		_, err := c.elastic(ids[0])
		return err
	})
	if err != nil {
		return nil, err
	}
	return described(c, "addressesSet", pages{}, all, func(e *address) values {
		return values{
			"allocation-id": {e.ID}, "public-ip": {e.IP}, "instance-id": {e.Instance}, "association-id": {e.Association}, "domain": {"vpc"},
		}.tagged(e.Tags)
	}, func(e *address) fields {
		return fields{
			"publicIp", e.IP, "allocationId", e.ID, "domain", "vpc", "associationId", optional(e.Association), "instanceId", optional(e.Instance),
			"tagSet", tagSet(e.Tags),
		}
	})
}

// addSubnets gives the datacenter the subnets of the account. Nothing in them answers the
// workstation; machines behind a NAT gateway appear with its address outside.
func (a *AWS) addSubnets() error {
	low := publicPrefix().Addr()
	public := datacenter.Subnet{Prefix: publicPrefix(), Reserved: []datacenter.Range{{From: low, To: natAddress()}}}
	if err := a.Options.Datacenter.AddSubnet(publicSubnet, public); err != nil {
		return err
	}
	for _, s := range a.st.subnets.All() {
		n := datacenter.Subnet{Prefix: s.CIDR, Zone: s.Zone, Private: true}
		if strings.HasPrefix(a.st.wayOut(s), "nat-") {
			n.Egress = natAddress()
		}
		if err := a.Options.Datacenter.AddSubnet(s.ID, n); err != nil {
			return err
		}
	}
	return nil
}

// wayOut is the gateway of the default route of a subnet; empty: none.
func (s *state) wayOut(n *subnet) string {
	for _, t := range s.routes.All() {
		if slices.Contains(t.Subnets, n.ID) {
			return t.wayOut()
		}
	}
	for _, t := range s.routes.All() {
		if t.Main && t.VPC == n.VPC {
			return t.wayOut()
		}
	}
	return ""
}

func (t *routeTable) wayOut() string {
	for _, r := range t.Routes {
		if r.Destination == "0.0.0.0/0" {
			return r.Gateway
		}
	}
	return ""
}
