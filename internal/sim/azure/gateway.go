// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"net/netip"
	"slices"
)

type natGateway = resource[natProperties]

type natProperties struct {
	status
	ResourceGUID         string `json:"resourceGuid,omitempty"`
	IdleTimeoutInMinutes int    `json:"idleTimeoutInMinutes,omitempty"`
	PublicIPAddresses    []ref  `json:"publicIpAddresses,omitempty"`
	PublicIPPrefixes     []ref  `json:"publicIpPrefixes,omitempty"`
	Subnets              []ref  `json:"subnets,omitempty"`
}

type routeTable = resource[routesProperties]

type routesProperties struct {
	status
	ResourceGUID               string                  `json:"resourceGuid,omitempty"`
	Routes                     []part[routeProperties] `json:"routes"`
	DisableBGPRoutePropagation bool                    `json:"disableBgpRoutePropagation"`
	Subnets                    []ref                   `json:"subnets,omitempty"`
}

type routeProperties struct {
	status
	AddressPrefix    string `json:"addressPrefix,omitempty"`
	NextHopType      string `json:"nextHopType,omitempty"`
	NextHopIPAddress string `json:"nextHopIpAddress,omitempty"`
	HasBGPOverride   bool   `json:"hasBgpOverride"`
}

func checkNAT(c *call, r, _ *record) error {
	h, p := r.top(), &r.object.(*natGateway).Properties
	if h.SKU == nil || h.SKU.Name != "Standard" {
		return formatError("NatGatewayInvalidSku", "NAT gateway %s must have the SKU Standard.", h.ID)
	}
	p.ResourceGUID, p.Subnets = derivedUUID(h.ID), nil
	p.IdleTimeoutInMinutes = cmp.Or(p.IdleTimeoutInMinutes, 4)
	for _, to := range p.PublicIPAddresses {
		_, address := find[publicAddress](c.st, to.ID)
		if address == nil {
			return noReference(to.ID, r)
		}
		if holder := address.Properties.NATGateway; holder != nil && holder.key() != keyOf(h.ID) || address.Properties.IPConfiguration != nil {
			return addressInUse(h.ID, to.ID, "another resource")
		}
	}
	for _, to := range p.PublicIPPrefixes {
		if _, prefix := find[addressPrefix](c.st, to.ID); prefix == nil {
			return noReference(to.ID, r)
		}
		if user := c.st.natWith(to.ID); user != nil && user.key() != keyOf(h.ID) {
			return bad("PublicIpPrefixInUse", "Resource %s is referencing public IP prefix %s that is already allocated to resource %s.", h.ID, to.ID, user.ID)
		}
	}
	return nil
}

func natLinks(_ *call, r *record) (out []link) {
	p := r.object.(*natGateway).Properties
	for _, to := range p.PublicIPAddresses {
		out = append(out, link{addressKind + "/join/action", to.ID})
	}
	for _, to := range p.PublicIPPrefixes {
		out = append(out, link{prefixKind + "/join/action", to.ID})
	}
	return out
}

func applyNAT(c *call, r, _ *record) error {
	c.holdNAT(r.top().ID, r.object.(*natGateway).Properties.PublicIPAddresses)
	return c.addAllSubnets()
}

// holdNAT notes which public addresses a gateway has.
func (a *Azure) holdNAT(id string, addresses []ref) {
	each(a.st, func(held *record, p *publicAddress) {
		wants := slices.ContainsFunc(addresses, func(r ref) bool { return keyOf(r.ID) == keyOf(held.top().ID) })
		switch {
		case wants:
			p.Properties.NATGateway = &ref{id}
			a.st.put(held)
		case p.Properties.NATGateway.key() == keyOf(id):
			p.Properties.NATGateway = nil
			a.st.put(held)
		}
	})
}

func (a *Azure) addAllSubnets() (err error) {
	each(a.st, func(_ *record, n *vnet) {
		if err == nil {
			err = a.addSubnets(n)
		}
	})
	return err
}

func natRemovable(c *call, r *record) error {
	if users := c.st.subnetsWith(r.top().ID); len(users) > 0 {
		return bad("InUseNatGatewayCannotBeDeleted", "NAT gateway %s cannot be deleted because it is in use by the following resources: %s.", r.top().ID, users[0].ID)
	}
	return nil
}

// egress is the address with which machines behind a gateway appear outside.
func (s *state) egress(nat *natGateway) (out netip.Addr) {
	for _, to := range nat.Properties.PublicIPPrefixes {
		if _, p := find[addressPrefix](s, to.ID); p != nil {
			prefix, _ := netip.ParsePrefix(p.Properties.IPPrefix) // was written here
			out = prefix.Addr()
		}
	}
	for _, to := range nat.Properties.PublicIPAddresses {
		if _, ip := find[publicAddress](s, to.ID); ip != nil {
			out, _ = netip.ParseAddr(ip.Properties.IPAddress)
		}
	}
	return out
}

func endNAT(a *Azure, r *record) { a.holdNAT(r.top().ID, nil) }

func showNAT(c *call, r *record) any {
	n := *r.object.(*natGateway)
	n.Properties.Subnets = c.st.subnetsWith(n.ID)
	return &n
}

func checkRoutes(_ *call, r, _ *record) error {
	p := &r.object.(*routeTable).Properties
	p.ResourceGUID, p.Subnets = derivedUUID(r.top().ID), nil
	for _, route := range p.Routes {
		known := slices.Contains([]string{"VnetLocal", "Internet", "VirtualAppliance", "VirtualNetworkGateway", "None"}, route.Properties.NextHopType)
		if _, err := netip.ParsePrefix(route.Properties.AddressPrefix); err != nil || !known {
			return formatError("RouteInvalid", "Route %s has an invalid address prefix or next hop type.", route.Name)
		}
		if (route.Properties.NextHopType == "VirtualAppliance") != (route.Properties.NextHopIPAddress != "") {
			return formatError("RouteNextHopIPAddressInvalid", "Route %s needs a next hop address for a virtual appliance, and for nothing else.", route.Name)
		}
	}
	if p.Routes == nil {
		p.Routes = []part[routeProperties]{}
	}
	return completeParts(r, "routes", p.Routes)
}

func routesRemovable(c *call, r *record) error {
	if users := c.st.subnetsWith(r.top().ID); len(users) > 0 {
		return bad("InUseRouteTableCannotBeDeleted", "Route table %s is in use and cannot be deleted: %s.", r.top().Name, users[0].ID)
	}
	return nil
}

func showRoutes(c *call, r *record) any {
	t := *r.object.(*routeTable)
	t.Properties.Subnets = c.st.subnetsWith(t.ID)
	t.Properties.Routes = withETag(t.Properties.Routes, t.ETag, func(*part[routeProperties]) {})
	return &t
}
