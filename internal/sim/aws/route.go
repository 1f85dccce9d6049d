// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"strings"
)

func describeRoutes(c *call) (fields, error) {
	all, err := named(c, c.st.routes, "RouteTableId", func(ids []string) error {
		return refuse("InvalidRouteTableID.NotFound", "The routeTable ID '%s' does not exist", ids[0])
	})
	if err != nil {
		return nil, err
	}
	return described(c, "routeTableSet", ec2Pages(100), all, routeValues, c.showRoutes)
}

func routeValues(t *routeTable) values {
	v := values{
		"route-table-id": {t.ID}, "vpc-id": {t.VPC}, "association.subnet-id": t.Subnets, "association.main": {fmt.Sprint(t.Main)},
		"association.route-table-id": {t.ID}, "route.gateway-id": nil, "route.nat-gateway-id": nil, "route.destination-cidr-block": nil,
	}
	for _, r := range t.Routes {
		v["route.destination-cidr-block"] = append(v["route.destination-cidr-block"], r.Destination)
		name := "route.gateway-id"
		if strings.HasPrefix(r.Gateway, "nat-") {
			name = "route.nat-gateway-id"
		}
		v[name] = append(v[name], r.Gateway)
	}
	return v.tagged(t.Tags)
}

func (c *call) showRoutes(t *routeTable) fields {
	associations, routes := items{}, items{}
	if t.Main {
		associations = append(associations, showAssociation(t, "", true))
	}
	for _, s := range t.Subnets {
		associations = append(associations, showAssociation(t, s, false))
	}
	for _, r := range t.Routes {
		name, origin := "gatewayId", "CreateRoute"
		switch {
		case strings.HasPrefix(r.Gateway, "nat-"):
			name = "natGatewayId"
		case r.Gateway == "local":
			origin = "CreateRouteTable"
		}
		routes = append(routes, fields{"destinationCidrBlock", r.Destination, name, r.Gateway, "state", "active", "origin", origin})
	}
	return fields{
		"routeTableId", t.ID, "vpcId", t.VPC, "ownerId", c.account, "routeSet", routes, "associationSet", associations,
		"propagatingVgwSet", items{}, "tagSet", tagSet(t.Tags),
	}
}

func showAssociation(t *routeTable, subnet string, main bool) fields {
	id := "rtbassoc-" + strings.TrimPrefix(t.ID, "rtb-")
	if subnet != "" {
		id = "rtbassoc-" + strings.TrimPrefix(subnet, "subnet-")
	}
	return fields{
		"routeTableAssociationId", id, "routeTableId", t.ID, "subnetId", optional(subnet), "main", main, "associationState", fields{"state", "associated"},
	}
}

func describeInternetGateways(c *call) (fields, error) {
	return described(c, "internetGatewaySet", pages{}, c.st.gateways.Where(func(g *gateway) bool { return !g.NAT }), func(g *gateway) values {
		return values{"internet-gateway-id": {g.ID}, "attachment.vpc-id": {g.VPC}, "attachment.state": {"available"}, "owner-id": {c.account}}.tagged(g.Tags)
	}, func(g *gateway) fields {
		return fields{
			"internetGatewayId", g.ID, "ownerId", c.account, "tagSet", tagSet(g.Tags),
			"attachmentSet", items{fields{"vpcId", g.VPC, "state", "available"}},
		}
	})
}

func describeNATGateways(c *call) (fields, error) {
	return described(c, "natGatewaySet", pages{}, c.st.gateways.Where(func(g *gateway) bool { return g.NAT }), func(g *gateway) values {
		return values{"nat-gateway-id": {g.ID}, "vpc-id": {g.VPC}, "subnet-id": {g.Subnet}, "state": {"available"}}.tagged(g.Tags)
	}, func(g *gateway) fields {
		return fields{
			"natGatewayId", g.ID, "vpcId", g.VPC, "subnetId", g.Subnet, "state", "available", "connectivityType", "public",
			"natGatewayAddressSet", items{fields{"publicIp", g.Address, "status", "succeeded", "isPrimary", true}}, "tagSet", tagSet(g.Tags),
		}
	})
}
