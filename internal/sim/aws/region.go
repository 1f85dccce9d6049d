// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"slices"
	"strings"
)

// regions are those that an account can use without opting in.
func regions() []string {
	return []string{
		"ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1", "ap-southeast-1", "ap-southeast-2", "ca-central-1", "eu-central-1", "eu-north-1", "eu-west-1",
		"eu-west-2", "eu-west-3", "sa-east-1", "us-east-1", "us-east-2", "us-west-1", "us-west-2",
	}
}

// zones are those of the region.
func (a *AWS) zones() (out []string) {
	for _, letter := range []string{"a", "b", "c"} {
		out = append(out, a.seed.Region+letter)
	}
	return out
}

// zoneID is the name of a zone that is the same in all accounts, such as euc1-az2.
func zoneID(region string, i int) string {
	parts := strings.Split(region, "-")
	return fmt.Sprintf("%s%s%s-az%d", parts[0], parts[1][:1], parts[len(parts)-1][:1], (i+1)%3+1)
}

func describeRegions(c *call) (fields, error) {
	all := []*string{}
	for _, r := range append(regions(), c.seed.Region) {
		if !slices.ContainsFunc(all, func(known *string) bool { return *known == r }) {
			all = append(all, &r)
		}
	}
	for _, wanted := range c.params.List("RegionName") {
		if !slices.ContainsFunc(all, func(r *string) bool { return *r == wanted }) {
			return nil, refuse("InvalidParameterValue", "Invalid region provided: %s", wanted)
		}
	}
	if wanted := c.params.List("RegionName"); len(wanted) > 0 {
		all = slices.DeleteFunc(all, func(r *string) bool { return !slices.Contains(wanted, *r) })
	}
	return described(c, "regionInfo", pages{}, all, func(r *string) values {
		return values{"region-name": {*r}, "endpoint": {"ec2." + *r + ".amazonaws.com"}, "opt-in-status": {"opt-in-not-required"}}
	}, func(r *string) fields {
		return fields{"regionName", *r, "regionEndpoint", "ec2." + *r + ".amazonaws.com", "optInStatus", "opt-in-not-required"}
	})
}

// zone is one of the region.
type zone struct{ name, id string }

func describeZones(c *call) (fields, error) {
	all := []*zone{}
	wanted := append(c.params.List("ZoneName"), c.params.List("ZoneId")...)
	for i, name := range c.zones() {
		z := &zone{name, zoneID(c.seed.Region, i)}
		if len(wanted) == 0 || slices.Contains(wanted, z.name) || slices.Contains(wanted, z.id) {
			all = append(all, z)
		}
	}
	if len(all) < len(wanted) {
		return nil, refuse("InvalidParameterValue", "Invalid availability zone: [%s]", strings.Join(wanted, ", "))
	}
	return described(c, "availabilityZoneInfo", pages{}, all, func(z *zone) values {
		return values{
			"zone-name": {z.name}, "zone-id": {z.id}, "state": {"available"}, "region-name": {c.seed.Region},
			"zone-type": {"availability-zone"}, "opt-in-status": {"opt-in-not-required"}, "group-name": {c.seed.Region},
		}
	}, func(z *zone) fields {
		return fields{
			"zoneName", z.name, "zoneId", z.id, "zoneState", "available", "regionName", c.seed.Region, "zoneType", "availability-zone",
			"optInStatus", "opt-in-not-required", "groupName", c.seed.Region, "networkBorderGroup", c.seed.Region, "messageSet", items{},
		}
	})
}

// keyPair is a public key for SSH.
type keyPair struct {
	ID, Name, Fingerprint string
	Tags                  tags
}

func describeKeyPairs(c *call) (fields, error) {
	for _, name := range c.params.List("KeyName") {
		if len(c.st.keyPairs.Where(func(k *keyPair) bool { return k.Name == name })) == 0 {
			return nil, refuse("InvalidKeyPair.NotFound", "The key pair '%s' does not exist", name)
		}
	}
	wanted := c.params.List("KeyName")
	all := c.st.keyPairs.Where(func(k *keyPair) bool { return len(wanted) == 0 || slices.Contains(wanted, k.Name) })
	return described(c, "keySet", pages{}, all, func(k *keyPair) values {
		return values{"key-name": {k.Name}, "key-pair-id": {k.ID}, "fingerprint": {k.Fingerprint}}.tagged(k.Tags)
	}, func(k *keyPair) fields {
		return fields{"keyPairId", k.ID, "keyName", k.Name, "keyFingerprint", k.Fingerprint, "keyType", "ed25519", "tagSet", tagSet(k.Tags)}
	})
}
