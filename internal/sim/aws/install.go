// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/aws/policy"
)

// subnetParts is how many subnets a VPC has room for.
const subnetParts = 16

// install creates what the seed names and does not exist.
func (a *AWS) install() error {
	cidr, err := netip.ParsePrefix(a.seed.CIDR)
	if err != nil || !cidr.Addr().Is4() {
		return fmt.Errorf("the VPC of the simulated AWS has the prefix %q", a.seed.CIDR)
	}
	if err := a.installPrincipals(); err != nil {
		return err
	}
	a.installNetwork(cidr)
	a.installDefaultVPC()
	a.installGroups(cidr)
	a.installImages()
	if !a.Hosts {
		return nil
	}
	return a.addSubnets()
}

func (a *AWS) installNetwork(cidr netip.Prefix) {
	s, st := a.seed, a.st
	st.vpcs.Ensure(s.VPC, &vpc{ID: s.VPC, CIDR: cidr, Tags: tags{"Name": "butler"}})
	igw, nat := derivedID("igw", s.VPC), derivedID("nat", s.VPC)
	st.gateways.Ensure(igw, &gateway{ID: igw, VPC: s.VPC})
	local := route{cidr.String(), "local"}
	out := []route{local, {"0.0.0.0/0", nat}}
	switch {
	case s.NoWayOut:
		out = []route{local}
	case s.PublicSubnets:
		out = []route{local, {"0.0.0.0/0", igw}}
	}
	for i, id := range s.Subnets {
		zone := i % len(a.zones())
		n := &subnet{
			ID: id, VPC: s.VPC, Zone: a.zones()[zone], ZoneID: zoneID(s.Region, zone), CIDR: split(cidr, subnetParts, i), Tags: tags{"Name": fmt.Sprintf("nodes-%d", i)},
		}
		if s.IPv6 {
			n.IPv6 = netip.MustParsePrefix(fmt.Sprintf("2a05:d014:400:%x::/64", i))
		}
		st.subnets.Ensure(id, n)
	}
	main, table := derivedID("rtb", s.VPC), derivedID("rtb", s.VPC+"nodes")
	st.routes.Ensure(main, &routeTable{ID: main, VPC: s.VPC, Main: true, Routes: []route{local}})
	st.routes.Ensure(table, &routeTable{ID: table, VPC: s.VPC, Subnets: s.Subnets, Routes: out})
	if !s.PublicSubnets {
		a.installPublic(cidr, igw, nat, local)
	}
}

// installPublic creates subnets for load balancers and for the NAT gateway.
func (a *AWS) installPublic(cidr netip.Prefix, igw, nat string, local route) {
	var ids []string
	for i, zone := range a.zones() {
		id := derivedID("subnet", a.seed.VPC+"public"+zone)
		ids = append(ids, id)
		a.st.subnets.Ensure(id, &subnet{
			ID: id, VPC: a.seed.VPC, Zone: zone, ZoneID: zoneID(a.seed.Region, i), CIDR: split(cidr, subnetParts, subnetParts-1-i), Public: true,
			Tags: tags{"Name": fmt.Sprintf("public-%d", i), "kubernetes.io/role/elb": "1"},
		})
	}
	a.st.gateways.Ensure(nat, &gateway{ID: nat, VPC: a.seed.VPC, NAT: true, Subnet: ids[0], Address: natAddress().String()})
	table := derivedID("rtb", a.seed.VPC+"public")
	a.st.routes.Ensure(table, &routeTable{ID: table, VPC: a.seed.VPC, Subnets: ids, Routes: []route{local, {"0.0.0.0/0", igw}}})
}

// installDefaultVPC creates the VPC that every account has, which nothing should use by
// accident.
func (a *AWS) installDefaultVPC() {
	id, cidr := derivedID("vpc", "default"), netip.MustParsePrefix("172.31.0.0/16")
	a.st.vpcs.Ensure(id, &vpc{ID: id, CIDR: cidr, Default: true})
	igw, table, groupID := derivedID("igw", id), derivedID("rtb", id), derivedID("sg", id)
	a.st.gateways.Ensure(igw, &gateway{ID: igw, VPC: id})
	a.st.routes.Ensure(table, &routeTable{ID: table, VPC: id, Main: true, Routes: []route{{cidr.String(), "local"}, {"0.0.0.0/0", igw}}})
	for i, zone := range a.zones() {
		s := derivedID("subnet", id+zone)
		a.st.subnets.Ensure(s, &subnet{ID: s, VPC: id, Zone: zone, ZoneID: zoneID(a.seed.Region, i), CIDR: split(cidr, subnetParts, i), Public: true})
	}
	a.st.groups.Ensure(groupID, &group{ID: groupID, Name: "default", Description: "default VPC security group", VPC: id, Rules: defaultRules(groupID)})
}

// defaultRules are those of a VPC's own group: everything among its members, and out.
func defaultRules(id string) []rule {
	return []rule{
		{ID: derivedID("sgr", id+"in"), Protocol: "-1", From: -1, To: -1, Group: id},
		{ID: derivedID("sgr", id+"out"), Egress: true, Protocol: "-1", From: -1, To: -1, CIDR: "0.0.0.0/0"},
	}
}

// installGroups creates the groups of the machines: everything among them, and the two
// APIs from the whole VPC, where the load balancer is.
func (a *AWS) installGroups(cidr netip.Prefix) {
	own := derivedID("sg", a.seed.VPC)
	a.st.groups.Ensure(own, &group{ID: own, Name: "default", Description: "default VPC security group", VPC: a.seed.VPC, Rules: defaultRules(own)})
	for i, id := range a.seed.SecurityGroups {
		rules := defaultRules(id)
		for _, port := range []int{6443, 50000} {
			rules = append(rules, rule{ID: derivedID("sgr", fmt.Sprint(id, port)), Protocol: "tcp", From: port, To: port, CIDR: cidr.String()})
		}
		a.st.groups.Ensure(id, &group{ID: id, Name: fmt.Sprintf("butler-nodes-%d", i), Description: "nodes", VPC: a.seed.VPC, Rules: rules})
	}
}

func (a *AWS) installImages() {
	created := time.Date(2025, 1, 16, 12, 0, 0, 0, time.UTC)
	add := func(i *image) {
		i.Created = created
		a.st.images.Ensure(i.ID, i)
	}
	for _, version := range append([]string{"v1.9.2", "v1.9.5", "v1.10.0"}, a.seed.TalosVersions...) {
		for _, i := range talosImages(a.seed.Region, version) {
			add(i)
		}
	}
	other := "ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-amd64-server-20250115"
	add(&image{ID: derivedID("ami", other), Name: other, Owner: otherOwner, Arch: x86, RootDevice: "/dev/sda1", RootGB: 8, Snapshot: derivedID("snap", other), Public: true, State: "available"})
	for _, wanted := range a.seed.Images {
		add(wanted.image(a.account))
	}
}

func (i Image) image(account string) *image {
	out := &image{ID: i.ID, Name: i.Name, Owner: i.Owner, Arch: i.Arch, RootDevice: "/dev/xvda", RootGB: i.RootGB, State: "available", Tags: i.Tags}
	out.ID = cmp.Or(out.ID, derivedID("ami", i.Name))
	out.Arch = cmp.Or(out.Arch, x86)
	out.RootGB = cmp.Or(out.RootGB, 8)
	out.Owner = cmp.Or(out.Owner, account)
	out.Public = out.Owner != account && !i.Private
	out.Snapshot = derivedID("snap", i.Name)
	return out
}

func (a *AWS) installPrincipals() error {
	for _, document := range append([]json.RawMessage{a.seed.Policy}, rolePolicies(a.seed.Roles)...) {
		if _, err := policy.Parse(document); err != nil {
			return err
		}
	}
	a.st.principals.Ensure(adminName, newUser(adminName, json.RawMessage(everything)))
	a.st.principals.Ensure(userName, newUser(userName, a.seed.Policy))
	a.st.principals.ByID[userName].Policy = a.seed.Policy
	for _, name := range a.seed.Profiles {
		id := derivedPrincipal(name)
		a.st.principals.Ensure(id, &principal{ID: id, Name: name, Role: true, Profile: true, Policy: json.RawMessage(everything)})
	}
	for _, r := range a.seed.Roles {
		id := derivedPrincipal(r.Name)
		document := r.Policy
		if len(document) == 0 {
			document = documented
		}
		a.st.principals.Ensure(id, &principal{ID: id, Name: r.Name, Role: true, ExternalID: r.ExternalID, WebIdentity: r.WebIdentity, Policy: document})
	}
	for _, name := range a.seed.KeyPairs {
		a.st.keyPairs.Ensure(derivedID("key", name), &keyPair{ID: derivedID("key", name), Name: name, Fingerprint: randomHex(32)})
	}
	return nil
}

func derivedPrincipal(name string) string { return "AROA" + derivedID("", name)[2:] }

func rolePolicies(roles []Role) (out []json.RawMessage) {
	for _, r := range roles {
		if len(r.Policy) > 0 {
			out = append(out, r.Policy)
		}
	}
	return out
}
