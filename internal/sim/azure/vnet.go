// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"net/netip"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

type vnet = resource[vnetProperties]

type vnetProperties struct {
	status
	ResourceGUID           string                   `json:"resourceGuid,omitempty"`
	AddressSpace           addressSpace             `json:"addressSpace"`
	DHCPOptions            *dhcpOptions             `json:"dhcpOptions,omitempty"`
	Subnets                []part[subnetProperties] `json:"subnets"`
	VirtualNetworkPeerings []struct{}               `json:"virtualNetworkPeerings"`
	EnableDDoSProtection   bool                     `json:"enableDdosProtection"`
	PrivateEndpointPolicy  string                   `json:"privateEndpointVNetPolicies,omitempty"`
}

type addressSpace struct {
	AddressPrefixes []string `json:"addressPrefixes"`
}

type dhcpOptions struct {
	DNSServers []string `json:"dnsServers"`
}

type subnetProperties struct {
	status
	AddressPrefix                     string     `json:"addressPrefix,omitempty"`
	AddressPrefixes                   []string   `json:"addressPrefixes,omitempty"`
	NetworkSecurityGroup              *ref       `json:"networkSecurityGroup,omitempty"`
	RouteTable                        *ref       `json:"routeTable,omitempty"`
	NatGateway                        *ref       `json:"natGateway,omitempty"`
	ServiceEndpoints                  []struct{} `json:"serviceEndpoints,omitempty"`
	Delegations                       []struct{} `json:"delegations"`
	IPConfigurations                  []ref      `json:"ipConfigurations,omitempty"`
	PrivateEndpointNetworkPolicies    string     `json:"privateEndpointNetworkPolicies,omitempty"`
	PrivateLinkServiceNetworkPolicies string     `json:"privateLinkServiceNetworkPolicies,omitempty"`
	// DefaultOutboundAccess is whether machines without a way out get one.
	DefaultOutboundAccess *bool `json:"defaultOutboundAccess,omitempty"`
}

func (p *subnetProperties) prefix() netip.Prefix {
	text := p.AddressPrefix
	if text == "" && len(p.AddressPrefixes) > 0 {
		text = p.AddressPrefixes[0]
	}
	prefix, _ := netip.ParsePrefix(text) // was checked
	return prefix
}

// subnet finds the subnet of an ID.
func (s *state) subnet(id string) *part[subnetProperties] {
	path, _ := parseID(id)
	if !strings.EqualFold(path.kind(), vnetKind+"/subnets") || !path.named() {
		return nil
	}
	_, n := find[vnet](s, path.parent().String())
	if n == nil {
		return nil
	}
	return partNamed(n.Properties.Subnets, id)
}

// subnetID is that of a subnet in the datacenter.
func subnetID(id string) string { return digest(id) }

func checkNetwork(c *call, r, before *record) error {
	n := r.object.(*vnet)
	p := &n.Properties
	if len(p.VirtualNetworkPeerings) > 0 {
		return notSimulated("peerings of virtual networks")
	}
	if len(p.AddressSpace.AddressPrefixes) == 0 {
		return formatError("NoAddressPrefixOrPoolProvided", "No address prefix or pool has been provided.")
	}
	space, err := prefixes(p.AddressSpace.AddressPrefixes)
	if err != nil {
		return err
	}
	p.ResourceGUID = derivedUUID(r.top().ID)
	if p.VirtualNetworkPeerings == nil {
		p.VirtualNetworkPeerings = []struct{}{}
	}
	if err := completeParts(r, "subnets", p.Subnets); err != nil {
		return err
	}
	for i := range p.Subnets {
		if err := c.checkSubnet(r, &p.Subnets[i], space, p.Subnets[:i]); err != nil {
			return err
		}
	}
	if p.Subnets == nil {
		p.Subnets = []part[subnetProperties]{}
	}
	return c.subnetsRemovable(before, p.Subnets)
}

func prefixes(all []string) (out []netip.Prefix, err error) {
	for _, text := range all {
		prefix, err := netip.ParsePrefix(text)
		if err != nil || prefix.Masked() != prefix {
			return nil, bad("InvalidCIDRNotation", "The address prefix %s has an invalid CIDR notation.", text)
		}
		out = append(out, prefix)
	}
	return out, nil
}

func (c *call) checkSubnet(r *record, s *part[subnetProperties], space []netip.Prefix, others []part[subnetProperties]) error {
	p := &s.Properties
	if p.AddressPrefix == "" && len(p.AddressPrefixes) == 1 {
		p.AddressPrefix, p.AddressPrefixes = p.AddressPrefixes[0], nil
	}
	all, err := prefixes([]string{p.AddressPrefix})
	if err != nil {
		return err
	}
	inside := false
	for _, from := range space {
		inside = inside || from.Bits() <= all[0].Bits() && from.Contains(all[0].Addr())
	}
	if !inside {
		return bad("NetcfgInvalidSubnet", "Subnet '%s' is not valid in virtual network '%s'.", s.Name, r.top().Name)
	}
	for i := range others {
		if others[i].Properties.prefix().Overlaps(all[0]) {
			return bad("NetcfgSubnetRangesOverlap", "Subnet '%s' is not valid because its IP address range overlaps with that of an existing subnet in virtual network '%s'.", s.Name, r.top().Name)
		}
	}
	if len(p.Delegations) > 0 || len(p.ServiceEndpoints) > 0 {
		return notSimulated("delegations and service endpoints of subnets")
	}
	for kindName, to := range map[string]*ref{nsgKind: p.NetworkSecurityGroup, routesKind: p.RouteTable, natKind: p.NatGateway} {
		if target := c.st.resources.ByID[to.key()]; to != nil && (target == nil || target.top().Type != kindName) {
			return noReference(to.ID, r)
		}
	}
	p.IPConfigurations = nil
	if p.Delegations == nil {
		p.Delegations = []struct{}{}
	}
	set := func(field *string, value string) {
		*field = cmp.Or(*field, value)
	}
	set(&p.PrivateEndpointNetworkPolicies, "Disabled")
	set(&p.PrivateLinkServiceNetworkPolicies, "Enabled")
	return nil
}

// subnetsRemovable refuses to take a subnet away, or to change its prefix, while something
// is in it.
func (c *call) subnetsRemovable(before *record, now []part[subnetProperties]) error {
	if before == nil {
		return nil
	}
	for _, s := range before.object.(*vnet).Properties.Subnets {
		still := partNamed(now, s.ID)
		if still != nil && still.Properties.AddressPrefix == s.Properties.AddressPrefix {
			continue
		}
		if users := c.st.inSubnet(s.ID); len(users) > 0 {
			return subnetInUse(s, users[0])
		}
	}
	return nil
}

func subnetInUse(s part[subnetProperties], user ref) error {
	return bad("InUseSubnetCannotBeDeleted", "Subnet %s is in use by %s and cannot be deleted. In order to delete the subnet, delete all the resources within the subnet. See aka.ms/deletesubnet.", s.Name, user.ID)
}

// inSubnet are the IP configurations and frontends in a subnet.
func (s *state) inSubnet(id string) (out []ref) {
	key := keyOf(id)
	each(s, func(_ *record, n *nic) {
		for _, c := range n.Properties.IPConfigurations {
			if c.Properties.Subnet.key() == key {
				out = append(out, ref{c.ID})
			}
		}
	})
	each(s, func(_ *record, b *balancer) {
		for _, f := range b.Properties.FrontendIPConfigurations {
			if f.Properties.Subnet.key() == key {
				out = append(out, ref{f.ID})
			}
		}
	})
	return out
}

func networkLinks(_ *call, r *record) (out []link) {
	for _, s := range r.object.(*vnet).Properties.Subnets {
		for action, to := range map[string]*ref{nsgKind: s.Properties.NetworkSecurityGroup, routesKind: s.Properties.RouteTable, natKind: s.Properties.NatGateway} {
			if to != nil {
				out = append(out, link{action + "/join/action", to.ID})
			}
		}
	}
	return out
}

func networkRemovable(c *call, r *record) error {
	for _, s := range r.object.(*vnet).Properties.Subnets {
		if users := c.st.inSubnet(s.ID); len(users) > 0 {
			return subnetInUse(s, users[0])
		}
	}
	return nil
}

func applyNetwork(c *call, r, _ *record) error {
	if err := c.addSubnets(r.object.(*vnet)); err != nil {
		return bad("NetcfgInvalidVirtualNetworkSite", "%v", err)
	}
	return c.applyAll()
}

func endNetwork(a *Azure, r *record) {
	for _, s := range r.object.(*vnet).Properties.Subnets {
		if err := a.Options.Datacenter.RemoveSubnet(subnetID(s.ID)); err != nil && a.Hosts {
			a.Options.Log.Error("remove a subnet", "subnet", s.ID, "err", err)
		}
	}
}

func showNetwork(c *call, r *record) any {
	n := *r.object.(*vnet)
	n.Properties.Subnets = append([]part[subnetProperties]{}, n.Properties.Subnets...)
	for i := range n.Properties.Subnets {
		s := &n.Properties.Subnets[i]
		s.ETag, s.Properties.IPConfigurations = n.ETag, c.st.inSubnet(s.ID)
	}
	return &n
}

// addSubnets gives the datacenter the subnets of a network. Nothing in them answers the
// workstation; machines behind a NAT gateway appear with its address outside.
func (a *Azure) addSubnets(n *vnet) error {
	if !a.Hosts {
		return nil
	}
	for _, s := range n.Properties.Subnets {
		d := datacenter.Subnet{Prefix: s.Properties.prefix(), Private: true}
		if _, nat := find[natGateway](a.st, s.Properties.NatGateway.id()); nat != nil {
			d.Egress = a.st.egress(nat)
		}
		if err := a.Options.Datacenter.AddSubnet(subnetID(s.ID), d); err != nil {
			return err
		}
	}
	return nil
}

// freeAddress is the lowest address of a subnet that nothing has: the platform keeps the
// first four and the last.
func (s *state) freeAddress(p *subnetProperties, taken map[string]bool) (netip.Addr, bool) {
	prefix := p.prefix()
	for a, n := prefix.Addr(), 0; prefix.Contains(a); a, n = a.Next(), n+1 {
		if n >= 4 && prefix.Contains(a.Next()) && !taken[a.String()] {
			return a, true
		}
	}
	return netip.Addr{}, false
}

// takenIn are the addresses of a subnet that something has but one resource.
func (s *state) takenIn(id string, but *record) map[string]bool {
	out, key := map[string]bool{}, keyOf(id)
	each(s, func(r *record, n *nic) {
		for _, c := range n.Properties.IPConfigurations {
			if c.Properties.Subnet.key() == key && r.top().ID != but.top().ID {
				out[c.Properties.PrivateIPAddress] = true
			}
		}
	})
	each(s, func(r *record, b *balancer) {
		for _, f := range b.Properties.FrontendIPConfigurations {
			if f.Properties.Subnet.key() == key && r.top().ID != but.top().ID {
				out[f.Properties.PrivateIPAddress] = true
			}
		}
	})
	return out
}

// allocate returns an address of a subnet: the one that is asked for, the one from before,
// or a free one.
func (s *state) allocate(r *record, subnet *part[subnetProperties], wanted, method string, also map[string]bool) (string, error) {
	p := subnet.Properties.prefix()
	taken := s.takenIn(subnet.ID, r)
	for a := range also {
		taken[a] = true
	}
	if wanted == "" && strings.EqualFold(method, "Static") {
		return "", formatError("PrivateIPAddressMissing", "A private IP address is required for the static allocation of resource %s.", r.top().ID)
	}
	if wanted != "" {
		address, err := netip.ParseAddr(wanted)
		switch {
		case err != nil:
			return "", formatError("InvalidIPAddress", "The IP address %s is not valid.", wanted)
		case !p.Contains(address):
			return "", bad("PrivateIPAddressNotInSubnet", "Private static IP address %s does not belong to the range of subnet prefix %v.", wanted, p)
		case taken[address.String()]:
			return "", bad("PrivateIPAddressInUse", "IP configuration of %s is using the private IP address %s which is already allocated to another resource.", r.top().ID, wanted)
		}
		for low, n := p.Addr(), 0; n < 4; low, n = low.Next(), n+1 {
			if address == low {
				return "", bad("PrivateIPAddressInReservedRange", "Private static IP address %s falls within reserved IP range of subnet prefix %v.", wanted, p)
			}
		}
		return address.String(), nil
	}
	address, found := s.freeAddress(&subnet.Properties, taken)
	if !found {
		return "", bad("SubnetIsFull", "Subnet %s with address prefix %v does not have enough capacity for 1 IP addresses.", subnet.Name, p)
	}
	return address.String(), nil
}
