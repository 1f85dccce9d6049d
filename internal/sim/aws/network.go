// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"net/netip"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

type vpc struct {
	ID      string
	CIDR    netip.Prefix
	Default bool
	Tags    tags
}

type subnet struct {
	ID, VPC, Zone, ZoneID string
	CIDR                  netip.Prefix
	// IPv6 is the prefix of its IPv6 addresses; zero: none.
	IPv6   netip.Prefix
	Public bool // instances get a public address unless they ask for none
	Tags   tags
}

// reservedAddresses are those of a subnet that no interface gets: four at its beginning,
// one at its end.
const reservedAddresses = 5

func (s *subnet) size() int { return 1<<(32-s.CIDR.Bits()) - reservedAddresses }

// free returns how many addresses of a subnet no interface has.
func (s *state) free(n *subnet) int {
	return n.size() - len(s.interfaces.Where(func(i *networkInterface) bool { return i.Subnet == n.ID }))
}

// address returns one that no interface has.
func (s *state) address(n *subnet) (netip.Addr, bool) {
	taken := map[netip.Addr]bool{}
	for _, i := range s.interfaces.ByID {
		taken[i.Address] = true
	}
	address := n.CIDR.Masked().Addr()
	for range reservedAddresses - 1 {
		address = address.Next()
	}
	for ; n.CIDR.Contains(address.Next()); address = address.Next() {
		if !taken[address] {
			return address, true
		}
	}
	return netip.Addr{}, false
}

type routeTable struct {
	ID, VPC string
	Main    bool
	Subnets []string
	Routes  []route
	Tags    tags
}

// route leads a destination to a gateway: local, an internet gateway, or a NAT gateway.
type route struct{ Destination, Gateway string }

// gateway is an internet gateway or a NAT gateway.
type gateway struct {
	ID, VPC string
	Subnet  string // of a NAT gateway
	Address string // of a NAT gateway
	NAT     bool
	Tags    tags
}

func ec2Network() map[string]operation {
	return about(ec2, fault.Network, map[string]func(*call) (fields, error){
		"DescribeVpcs": describeVPCs, "DescribeSubnets": describeSubnets, "DescribeRouteTables": describeRoutes,
		"DescribeInternetGateways": describeInternetGateways, "DescribeNatGateways": describeNATGateways,
		"DescribeSecurityGroups": describeGroups, "DescribeSecurityGroupRules": describeRules,
		"CreateSecurityGroup": createGroup, "DeleteSecurityGroup": deleteGroup,
		"AuthorizeSecurityGroupIngress": authorizeRules, "AuthorizeSecurityGroupEgress": authorizeRules,
		"RevokeSecurityGroupIngress": revokeRules, "RevokeSecurityGroupEgress": revokeRules,
		"DescribeNetworkInterfaces": describeInterfaces, "CreateNetworkInterface": createInterface, "DeleteNetworkInterface": deleteInterface,
		"DescribeAddresses": describeAddresses, "AllocateAddress": allocateAddress, "ReleaseAddress": releaseAddress,
		"AssociateAddress": associateAddress, "DisassociateAddress": disassociateAddress,
	})
}

func describeVPCs(c *call) (fields, error) {
	all, err := named(c, c.st.vpcs, "VpcId", func(ids []string) error {
		return refuse("InvalidVpcID.NotFound", "The vpc ID '%s' does not exist", ids[0])
	})
	if err != nil {
		return nil, err
	}
	return described(c, "vpcSet", ec2Pages(1000), all, func(v *vpc) values {
		return values{
			"vpc-id": {v.ID}, "cidr": {v.CIDR.String()}, "state": {"available"}, "is-default": {fmt.Sprint(v.Default)}, "isDefault": {fmt.Sprint(v.Default)},
			"owner-id": {c.account}, "cidr-block-association.cidr-block": {v.CIDR.String()},
		}.tagged(v.Tags)
	}, func(v *vpc) fields {
		return fields{
			"vpcId", v.ID, "state", "available", "cidrBlock", v.CIDR, "ownerId", c.account, "isDefault", v.Default,
			"instanceTenancy", "default", "dhcpOptionsId", "dopt-0a1b2c3d4e5f60718", "tagSet", tagSet(v.Tags),
			"cidrBlockAssociationSet", items{fields{"associationId", "vpc-cidr-assoc-" + v.ID[4:], "cidrBlock", v.CIDR, "cidrBlockState", fields{"state", "associated"}}},
		}
	})
}

func describeSubnets(c *call) (fields, error) {
	all, err := named(c, c.st.subnets, "SubnetId", subnetMissing)
	if err != nil {
		return nil, err
	}
	return described(c, "subnetSet", ec2Pages(1000), all, func(s *subnet) values {
		return values{
			"subnet-id": {s.ID}, "vpc-id": {s.VPC}, "availability-zone": {s.Zone}, "availabilityZone": {s.Zone}, "availability-zone-id": {s.ZoneID},
			"state": {"available"}, "cidr-block": {s.CIDR.String()}, "cidr": {s.CIDR.String()}, "cidrBlock": {s.CIDR.String()},
			"default-for-az": {c.defaultText(s)}, "map-public-ip-on-launch": {fmt.Sprint(s.Public)}, "owner-id": {c.account},
		}.tagged(s.Tags)
	}, c.showSubnet)
}

func (c *call) showSubnet(s *subnet) fields {
	ipv6 := items{}
	if s.IPv6.IsValid() {
		ipv6 = items{fields{"ipv6CidrBlock", s.IPv6, "associationId", "subnet-cidr-assoc-" + s.ID[7:], "ipv6CidrBlockState", fields{"state", "associated"}}}
	}
	return fields{
		"subnetId", s.ID, "subnetArn", c.arn(ec2, "subnet/"+s.ID), "state", "available", "ownerId", c.account, "vpcId", s.VPC,
		"cidrBlock", s.CIDR, "ipv6CidrBlockAssociationSet", ipv6, "assignIpv6AddressOnCreation", s.IPv6.IsValid(),
		"availableIpAddressCount", c.st.free(s), "availabilityZone", s.Zone, "availabilityZoneId", s.ZoneID,
		"defaultForAz", c.st.vpcs.ByID[s.VPC].Default, "mapPublicIpOnLaunch", s.Public, "ipv6Native", false, "tagSet", tagSet(s.Tags),
	}
}

func (c *call) defaultText(s *subnet) string {
	v := c.st.vpcs.ByID[s.VPC]
	return fmt.Sprint(v != nil && v.Default)
}

func subnetMissing(ids []string) error {
	return refuse("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", ids[0])
}
