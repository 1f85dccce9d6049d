// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// networkInterface has the addresses of an instance or of a load balancer.
type networkInterface struct {
	ID, Subnet, VPC, Zone, MAC string
	Description                string
	Address, IPv6              netip.Addr
	Public                     string // public address; empty: none
	Groups                     []string
	SourceDestCheck            bool
	// Instance or Balancer is the ID of what it is attached to; without, it is free.
	Instance, Balancer  string
	DeleteOnTermination bool
	Attached            time.Time
	Tags                tags
}

func (i *networkInterface) privateDNS(region string) string {
	return "ip-" + strings.ReplaceAll(i.Address.String(), ".", "-") + "." + region + ".compute.internal"
}

// publicDNS is the name of a public address; empty without one.
func publicDNS(address, region string) string {
	if address == "" {
		return ""
	}
	return "ec2-" + strings.ReplaceAll(address, ".", "-") + "." + region + ".compute.amazonaws.com"
}

func describeInterfaces(c *call) (fields, error) {
	all, err := named(c, c.st.interfaces, "NetworkInterfaceId", func(ids []string) error {
		return refuse("InvalidNetworkInterfaceID.NotFound", "The networkInterface ID '%s' does not exist", ids[0])
	})
	if err != nil {
		return nil, err
	}
	return described(c, "networkInterfaceSet", ec2Pages(1000), all, func(i *networkInterface) values {
		return values{
			"network-interface-id": {i.ID}, "subnet-id": {i.Subnet}, "vpc-id": {i.VPC}, "availability-zone": {i.Zone}, "description": {i.Description},
			"group-id": i.Groups, "private-ip-address": {i.Address.String()}, "addresses.private-ip-address": {i.Address.String()},
			"attachment.instance-id": {i.Instance}, "status": {i.state()}, "attachment.status": {i.attachment()}, "owner-id": {c.account},
			"association.public-ip": {i.Public}, "requester-managed": {fmt.Sprint(i.Balancer != "")}, "mac-address": {i.MAC},
			"interface-type": {i.kind()}, "source-dest-check": {fmt.Sprint(i.SourceDestCheck)},
		}.tagged(i.Tags)
	}, c.showInterface)
}

func (i *networkInterface) kind() string {
	if i.Balancer != "" {
		return "network_load_balancer"
	}
	return "interface"
}

func (i *networkInterface) state() string {
	if i.Instance == "" && i.Balancer == "" {
		return "available"
	}
	return "in-use"
}

func (i *networkInterface) attachment() string {
	if i.state() == "in-use" {
		return "attached"
	}
	return ""
}

func (c *call) showInterface(i *networkInterface) fields {
	out := append(c.interfaceBase(i), "availabilityZone", i.Zone, "requesterManaged", i.Balancer != "", "tagSet", tagSet(i.Tags))
	if i.state() != "in-use" {
		return out
	}
	attachment := fields{
		"attachmentId", "eni-attach-" + i.ID[4:], "deviceIndex", 0, "status", "attached", "attachTime", i.Attached,
		"deleteOnTermination", i.DeleteOnTermination, "instanceId", optional(i.Instance), "instanceOwnerId", c.account,
	}
	if i.Balancer != "" {
		attachment = append(attachment[:len(attachment)-1], "amazon-aws")
		out = append(out, "requesterId", "amazon-elb")
	}
	return append(out, "attachment", attachment)
}

// interfaceBase is what an interface shows wherever it is shown.
func (c *call) interfaceBase(i *networkInterface) fields {
	var association any
	if i.Public != "" {
		association = fields{"publicIp", i.Public, "publicDnsName", publicDNS(i.Public, c.seed.Region), "ipOwnerId", "amazon"}
	}
	v6 := items{}
	if i.IPv6.IsValid() {
		v6 = items{fields{"ipv6Address", i.IPv6, "isPrimaryIpv6", false}}
	}
	return fields{
		"networkInterfaceId", i.ID, "subnetId", i.Subnet, "vpcId", i.VPC, "description", i.Description, "ownerId", c.account, "status", i.state(),
		"macAddress", i.MAC, "privateIpAddress", i.Address, "privateDnsName", i.privateDNS(c.seed.Region), "sourceDestCheck", i.SourceDestCheck,
		"groupSet", c.groupSet(i.Groups), "association", association, "ipv6AddressesSet", v6, "interfaceType", i.kind(),
		"privateIpAddressesSet", items{fields{
			"privateIpAddress", i.Address, "privateDnsName", i.privateDNS(c.seed.Region), "primary", true, "association", association,
		}},
	}
}

func (c *call) groupSet(ids []string) items {
	out := items{}
	for _, id := range slices.Sorted(slices.Values(ids)) {
		name := ""
		if g := c.st.groups.ByID[id]; g != nil {
			name = g.Name
		}
		out = append(out, fields{"groupId", id, "groupName", name})
	}
	return out
}

// newMAC returns a hardware address as EC2 makes them.
func newMAC() string {
	h := randomHex(10)
	return strings.Join([]string{"02", h[:2], h[2:4], h[4:6], h[6:8], h[8:]}, ":")
}

func (c *call) networkInterface(id string) (*networkInterface, error) {
	if n := c.st.interfaces.ByID[id]; n != nil {
		return n, nil
	}
	if err := checkID(id, "eni", "InvalidNetworkInterfaceId.Malformed"); err != nil {
		return nil, err
	}
	return nil, refuse("InvalidNetworkInterfaceID.NotFound", "The networkInterface ID '%s' does not exist", id)
}

func createInterface(c *call) (fields, error) {
	s := c.st.subnets.ByID[c.params.String("SubnetId")]
	if s == nil {
		return nil, subnetMissing([]string{c.params.String("SubnetId")})
	}
	groups := c.params.List("SecurityGroupId")
	for _, id := range groups {
		if _, err := c.group(id); err != nil {
			return nil, err
		}
	}
	if c.st.free(s) < 1 {
		return nil, refuse("InsufficientFreeAddressesInSubnet", "There are not enough free addresses in subnet '%s'.", s.ID)
	}
	tagged, err := c.specifiedTags("network-interface")
	if err != nil {
		return nil, err
	}
	if err := c.dryRun(); err != nil {
		return nil, err
	}
	n := c.newInterface(s, groups)
	n.Description, n.Tags = c.params.String("Description"), tagged["network-interface"]
	c.st.interfaces.Put(n.ID, n)
	c.auditInterface(n)
	return fields{"networkInterface", c.showInterface(n)}, nil
}

func deleteInterface(c *call) (fields, error) {
	n, err := c.networkInterface(c.params.String("NetworkInterfaceId"))
	if err != nil {
		return nil, err
	}
	if n.state() == "in-use" {
		return nil, refuse("InvalidNetworkInterface.InUse", "The network interface '%s' is currently in use.", n.ID)
	}
	if err := c.dryRun(); err != nil {
		return nil, err
	}
	c.st.interfaces.Remove(n.ID)
	c.auditGone(n.ID)
	return fields{"return", true}, nil
}
