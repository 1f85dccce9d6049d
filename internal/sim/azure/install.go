// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"time"
)

// lag is how long lists do not have a new resource.
func (a *Azure) lag() time.Duration { return max(a.Options.Create/2, a.seed.Lag.Duration) }

// install creates what the seed names and does not exist, as its administrator would.
func (a *Azure) install() error {
	cidr, err := netip.ParsePrefix(a.seed.CIDR)
	if err != nil || !cidr.Addr().Is4() || cidr.Bits() > 24 {
		return fmt.Errorf("the virtual network of the simulated Azure has the prefix %q", a.seed.CIDR)
	}
	if err := a.installActors(); err != nil {
		return err
	}
	if a.Hosts {
		if err := a.addPublicSubnet(); err != nil {
			return err
		}
		if err := a.addAllSubnets(); err != nil { // of an earlier run
			return err
		}
	}
	if err := a.installNetwork(cidr.Masked()); err != nil {
		return err
	}
	return a.installImages()
}

type tree = map[string]any

// ensure creates a resource in a group of the seed, unless there is one.
func (a *Azure) ensure(group, kind, name string, body tree) (string, error) {
	owner := resourceID{subscription: a.seed.Subscription, group: group}
	id, _ := parseID(owner.String() + "/providers/" + kind + "/" + name)
	if a.st.resources.ByID[owner.key()] == nil {
		g := &resource[groupProperties]{}
		g.head = head{ID: owner.String(), Name: group, Type: groupKind, Location: a.seed.Location}
		g.Properties.ProvisioningState = succeeded
		a.st.put(&record{object: g, hidden: hidden{Created: time.Now()}})
	}
	if a.st.resources.ByID[id.key()] != nil {
		return id.String(), nil
	}
	if body["location"] == nil {
		body["location"] = a.seed.Location
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	k := a.kinds[keyOf(id.kind())]
	c := &call{Azure: a, st: a.st, id: id, method: http.MethodPut, body: raw, who: a.actors[1], now: time.Now(), http: &http.Request{Header: http.Header{}}}
	o := k.create()
	if err := c.decode(o); err != nil {
		return "", err
	}
	elsewhere := o.top().Location
	o.top().Location = a.seed.Location
	r := &record{object: o, hidden: hidden{Created: c.now}}
	for _, step := range []func() error{
		func() error { return c.complete(k, k.canonical(id), r, nil) },
		func() error {
			if k.check == nil {
				return nil
			}
			return k.check(c, r, nil)
		},
	} {
		if err := step(); err != nil {
			return "", fmt.Errorf("create %s: %w", id, err)
		}
	}
	o.top().Location = elsewhere
	*r.state() = succeeded
	c.mark(k, r)
	a.st.put(r)
	if k.apply != nil {
		return id.String(), k.apply(c, r, nil)
	}
	return id.String(), nil
}

func (a *Azure) subnetOfSeed() string {
	return fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers/%s/%s/subnets/%s", a.seed.Subscription, a.seed.Group, vnetKind, a.seed.Network, a.seed.Subnet)
}

// installNetwork creates the network of the machines: a subnet with a security group that
// lets everyone reach the APIs of the machines themselves, and a NAT gateway.
func (a *Azure) installNetwork(cidr netip.Prefix) error {
	s := a.seed
	nodes := netip.PrefixFrom(cidr.Addr(), max(cidr.Bits(), 20)).String()
	rules := []tree{}
	if !s.Closed {
		for i, port := range []string{"6443", "50000"} {
			rules = append(rules, tree{"name": "allow-" + port, "properties": tree{
				"protocol": "Tcp", "access": "Allow", "direction": "Inbound", "priority": 100 + i, "sourcePortRange": "*", "sourceAddressPrefix": "*",
				"destinationAddressPrefix": nodes, "destinationPortRange": port,
			}})
		}
	}
	nsgID, err := a.ensure(s.Group, nsgKind, s.SecurityGroup, tree{"properties": tree{"securityRules": rules}})
	if err != nil {
		return err
	}
	subnet := tree{"addressPrefix": nodes, "networkSecurityGroup": tree{"id": nsgID}, "defaultOutboundAccess": false}
	if !s.NoWayOut {
		address, err := a.ensure(s.Group, addressKind, s.Network+"-nat", tree{"sku": tree{"name": "Standard"}, "properties": tree{"publicIPAllocationMethod": "Static"}})
		if err != nil {
			return err
		}
		nat, err := a.ensure(s.Group, natKind, s.Network+"-nat", tree{"sku": tree{"name": "Standard"}, "properties": tree{"publicIpAddresses": []tree{{"id": address}}}})
		if err != nil {
			return err
		}
		subnet["natGateway"] = tree{"id": nat}
	}
	_, err = a.ensure(s.Group, vnetKind, s.Network, tree{"properties": tree{
		"addressSpace": tree{"addressPrefixes": []string{cidr.String()}}, "subnets": []tree{{"name": s.Subnet, "properties": subnet}},
	}})
	return err
}

// installImages creates the images of the seed.
func (a *Azure) installImages() error {
	for _, i := range a.seed.Images {
		if err := a.installImage(i); err != nil {
			return err
		}
	}
	return nil
}

func (a *Azure) installImage(i Image) error {
	if i.Publisher != "" {
		return nil
	}
	got, group, where := i.image(), i.Group, i.Location
	group = cmp.Or(group, a.seed.Group)
	where = cmp.Or(where, a.seed.Location)
	name := i.Name
	if i.Gallery != "" {
		name = i.Gallery + "-" + i.Name + "-" + i.Version
	}
	source, err := a.ensure(group, imageKind, name, tree{"location": where, "tags": i.Tags, "properties": tree{
		"hyperVGeneration": got.generation,
		"storageProfile":   tree{"zoneResilient": true, "osDisk": tree{"osType": "Linux", "osState": "Generalized", "diskSizeGB": got.sizeGB, "blobUri": "https://example.blob.core.windows.net/images/" + name + ".vhd"}},
	}})
	if err != nil || i.Gallery == "" {
		return err
	}
	for _, step := range []struct {
		kind, name string
		body       tree
	}{
		{galleryKind, i.Gallery, tree{"properties": tree{}}},
		{galleryKind, i.Gallery + "/images/" + i.Name, tree{"tags": i.Tags, "properties": tree{
			"osType": "Linux", "osState": "Generalized", "hyperVGeneration": got.generation, "architecture": got.arch,
			"identifier": tree{"publisher": "example", "offer": "talos", "sku": i.Name},
		}}},
		{galleryKind, i.Gallery + "/images/" + i.Name + "/versions/" + i.Version, tree{"tags": i.Tags, "properties": tree{
			"storageProfile":    tree{"source": tree{"id": source}},
			"publishingProfile": tree{"targetRegions": []tree{{"name": where, "regionalReplicaCount": 1, "storageAccountType": "Standard_LRS"}}, "replicaCount": 1},
		}}},
	} {
		if _, err := a.ensure(group, step.kind, step.name, step.body); err != nil {
			return err
		}
	}
	return nil
}
