// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// The service accounts of the user and of the administrator.
const (
	userName  = "butler"
	adminName = "administrator"
)

// account is the address of a service account of the project.
func (g *GCP) account(name string) string {
	return name + "@" + g.seed.Project + ".iam.gserviceaccount.com"
}

// install creates what the seed names and does not exist.
func (g *GCP) install() error {
	cidr, err := netip.ParsePrefix(g.seed.CIDR)
	if err != nil || !cidr.Addr().Is4() {
		return fmt.Errorf("the subnetwork of the simulated Google Cloud has the prefix %q", g.seed.CIDR)
	}
	if err := g.installPrincipals(); err != nil {
		return err
	}
	g.installPlaces()
	g.installNetworks()
	g.installFirewalls()
	g.installImages()
	if !g.Hosts {
		return nil
	}
	return g.addSubnets()
}

// add adds a resource unless there is one.
func (g *GCP) add(kind, path string, o object) {
	if g.st.get(path) != nil {
		return
	}
	o["kind"], o["name"], o["selfLink"] = "compute#"+kind, nameOf(path), g.link(path)
	o.fill(object{"id": numericID(g.number + path), "creationTimestamp": stamp(created())})
	if location := locationOf(path); location != "" {
		place := strings.TrimSuffix(strings.Split(path, "/")[0], "s")
		o.fill(object{place: g.link(place + "s/" + location)})
	}
	g.st.put(&resource{Object: o, Path: path})
}

// installPlaces creates regions and zones with their types.
func (g *GCP) installPlaces() {
	for _, region := range g.regions() {
		var zones []any
		for _, zone := range zonesOf(region) {
			zones = append(zones, g.link("zones/"+zone))
			g.add("zone", "zones/"+zone, object{"status": "UP", "region": g.link("regions/" + region), "description": zone})
			if region == g.seed.Region {
				g.installTypes(zone)
			}
		}
		g.add("region", "regions/"+region, object{"status": "UP", "zones": zones, "description": region, "supportsPzs": false})
	}
}

func (g *GCP) installTypes(zone string) {
	for _, t := range g.types {
		if t.offered(zone) {
			path := "zones/" + zone + "/machineTypes/" + t.name
			g.add("machineType", path, t.object(g, zone))
		}
	}
	for _, name := range diskTypes() {
		g.add("diskType", "zones/"+zone+"/diskTypes/"+name, object{"defaultDiskSizeGb": "100", "validDiskSize": "10GB-65536GB"})
	}
}

// installNetworks creates the default network, that of the manifest, and Cloud NAT.
func (g *GCP) installNetworks() {
	g.installNetwork("default", true)
	if g.seed.Network != "default" {
		g.installNetwork(g.seed.Network, false)
	}
	for i, region := range g.regions() {
		cidr := fmt.Sprintf("10.%d.0.0/20", 128+4*i)
		if region == g.seed.Region && g.seed.Network == "default" && g.seed.Subnetwork == "default" {
			cidr = g.seed.CIDR
		}
		g.installSubnetwork("default", "default", region, cidr)
	}
	if g.seed.Network != "default" || g.seed.Subnetwork != "default" {
		g.installSubnetwork(g.seed.Subnetwork, g.seed.Network, g.seed.Region, g.seed.CIDR)
	}
	if g.seed.NoNAT {
		return
	}
	g.add("router", "regions/"+g.seed.Region+"/routers/"+g.seed.Network+"-router", object{
		"network": g.link("global/networks/" + g.seed.Network),
		"nats": []any{object{
			"name": "nat", "type": "PUBLIC", "natIpAllocateOption": "AUTO_ONLY", "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES",
			"endpointTypes": []any{"ENDPOINT_TYPE_VM"}, "enableEndpointIndependentMapping": false,
		}},
	})
}

func (g *GCP) installNetwork(name string, auto bool) {
	path := "global/networks/" + name
	g.add("network", path, object{"autoCreateSubnetworks": auto, "routingConfig": object{"routingMode": "REGIONAL"}, "networkFirewallPolicyEnforcementOrder": "AFTER_CLASSIC_FIREWALL"})
	g.add("route", "global/routes/default-route-"+numericID(name)[:12], object{
		"network": g.link(path), "destRange": "0.0.0.0/0", "priority": 1000, "nextHopGateway": g.link("global/gateways/default-internet-gateway"),
		"description": "Default route to the Internet.",
	})
}

func (g *GCP) installSubnetwork(name, network, region, cidr string) {
	prefix, err := netip.ParsePrefix(cidr)
	if err != nil {
		return
	}
	g.add("subnetwork", "regions/"+region+"/subnetworks/"+name, object{
		"network": g.link("global/networks/" + network), "ipCidrRange": prefix.Masked().String(), "gatewayAddress": prefix.Masked().Addr().Next().String(),
		"privateIpGoogleAccess": false, "purpose": "PRIVATE", "stackType": "IPV4_ONLY", "fingerprint": fingerprint(cidr),
	})
}

// installFirewalls creates the rules that a network of a cluster needs: everything among
// the machines, and the health checks. Clients of a load balancer are its own concern.
func (g *GCP) installFirewalls() {
	if g.seed.NoFirewall {
		return
	}
	rule := func(name string, ranges []string, allowed ...object) {
		o := object{
			"network": g.link("global/networks/" + g.seed.Network), "direction": "INGRESS", "priority": 1000, "disabled": false,
			"sourceRanges": anys(ranges), "allowed": anys(allowed), "logConfig": object{"enable": false},
		}
		if len(g.seed.Tags) > 0 {
			o["targetTags"] = anys(g.seed.Tags)
		}
		g.add("firewall", "global/firewalls/"+g.seed.Network+"-"+name, o)
	}
	rule("allow-internal", []string{g.seed.CIDR, "10.244.0.0/16"}, object{"IPProtocol": "tcp", "ports": []any{"0-65535"}}, object{"IPProtocol": "udp", "ports": []any{"0-65535"}},
		object{"IPProtocol": "icmp"}, object{"IPProtocol": "ipip"}, object{"IPProtocol": "esp"})
	rule("allow-health-checks", probeRanges(), object{"IPProtocol": "tcp", "ports": []any{"6443", "50000"}})
}

// probeRanges are where health checks come from.
func probeRanges() []string {
	return []string{"35.191.0.0/16", "130.211.0.0/22", "209.85.152.0/22", "209.85.204.0/22"}
}

func (g *GCP) installPrincipals() error {
	permissions, err := documentedPermissions()
	if err != nil {
		return err
	}
	if len(g.seed.Permissions) > 0 {
		permissions = g.seed.Permissions
	}
	user, admin := g.account(userName), g.account(adminName)
	if g.st.principals.ByID[user] == nil {
		key, err := newKey() // one is enough for a simulator, and takes its time
		if err != nil {
			return err
		}
		g.st.principals.Put(admin, &principal{Email: admin, Key: key, KeyID: randomHex(20), Admin: true})
		g.st.principals.Put(user, &principal{Email: user, Key: key, KeyID: randomHex(20)})
	}
	p := g.st.principals.ByID[user]
	p.Permissions = permissions
	g.st.principals.Put(user, p)
	for _, email := range append([]string{g.number + "-compute@developer.gserviceaccount.com"}, g.seed.ServiceAccounts...) {
		g.st.principals.Ensure(email, &principal{Email: email, Permissions: []string{"compute.instances.get"}})
	}
	for _, pool := range g.seed.Pools {
		if pool == "" {
			return errors.New("a pool of the simulated Google Cloud has no audience")
		}
		id := "principalSet:" + digest(pool)
		g.st.principals.Ensure(id, &principal{Email: id, Pool: pool, Permissions: append([]string{"iam.serviceAccounts.getAccessToken"}, permissions...)})
	}
	return nil
}
