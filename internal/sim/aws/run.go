// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// order is what RunInstances was asked for, after all checks.
type order struct {
	count             int
	kind              instanceType
	image             *image
	subnet            *subnet
	groups            []string
	public            bool
	sourceDest        bool
	interfaceDeleted  bool
	interfaceText     string
	address           string
	disks             []volume
	userData          []byte
	tags              map[string]tags
	profile           string
	shutdown          string
	metadata          metadataOptions
	keyName, token    string
	protected, unstop bool
}

func runInstances(c *call) (fields, error) {
	if again, err := c.repeated(); err != nil || again != nil {
		return again, err
	}
	o, err := c.order()
	if err != nil {
		return nil, err
	}
	if err := c.dryRun(); err != nil {
		return nil, err
	}
	if err := c.checkCapacity(o); err != nil {
		return nil, err
	}
	reservation := newID("r")
	var launched []*instance
	for index := range o.count {
		launched = append(launched, c.launch(o, reservation, index))
	}
	c.rememberToken(launched)
	return c.showReservation(launched), nil
}

// repeated answers a request whose token was used before.
func (c *call) repeated() (fields, error) {
	token := c.params.String("ClientToken")
	if token == "" {
		return nil, nil
	}
	if len(token) > 64 || strings.ContainsFunc(token, func(r rune) bool { return r > 126 || r < 32 }) {
		return nil, refuse("InvalidParameterValue", "Invalid value for ClientToken: it must have at most 64 ASCII characters")
	}
	before := c.st.requestTokens.ByID[tokenID(token)]
	if before == nil {
		return nil, nil
	}
	if before.Digest != c.digest() {
		return nil, refuse("IdempotentParameterMismatch", "Arguments on this idempotent request are inconsistent with arguments used in previous request(s).")
	}
	var launched []*instance
	for _, id := range before.Objects {
		if i := c.st.instances.ByID[id]; i != nil {
			launched = append(launched, i)
		}
	}
	if len(launched) == 0 {
		return nil, nil // forgotten with its instances
	}
	return c.showReservation(launched), c.dryRun()
}

func (c *call) rememberToken(launched []*instance) {
	token := c.params.String("ClientToken")
	if token == "" {
		return
	}
	t := &requestToken{Digest: c.digest(), Used: c.now}
	for _, i := range launched {
		t.Objects = append(t.Objects, i.ID)
	}
	c.st.requestTokens.Put(tokenID(token), t)
}

// tokenID is a token as the name of a file.
func tokenID(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// digest is that of the parameters, without those that do not count for a token.
func (c *call) digest() string {
	h := sha256.New()
	for _, key := range c.params.Keys() {
		if key != "DryRun" && key != "ClientToken" {
			fmt.Fprintf(h, "%s=%s\n", key, c.params[key])
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// checkCapacity refuses what the zone or the account has no room for.
func (c *call) checkCapacity(o order) error {
	bucket := o.kind.bucket()
	used := 0
	for _, i := range c.st.instances.ByID {
		if t, _ := c.typeNamed(i.Type); (i.State == running || i.State == pending) && t.bucket() == bucket {
			used += t.CPU
		}
	}
	if limit := c.quotaOf(bucket); used+o.count*o.kind.CPU > limit {
		return vcpuLimitExceeded(limit)
	}
	name := o.tags["instance"]["Name"]
	_, full := c.Options.Faults.WithoutCapacity(name)
	if !full && c.Hosts && !slices.Contains(c.seed.FullZones, o.subnet.Zone) {
		return nil
	}
	return insufficientCapacity(o.kind, o.subnet.Zone, c.zones())
}

func vcpuLimitExceeded(limit int) error {
	return refuse("VcpuLimitExceeded", "You have requested more vCPU capacity than your current vCPU limit of %d allows for the instance bucket that the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit.", limit)
}

func insufficientCapacity(t instanceType, zone string, zones []string) error {
	others := slices.DeleteFunc(slices.Clone(zones), func(z string) bool { return z == zone || !t.offered(z) })
	return refusal{"InsufficientInstanceCapacity", fmt.Sprintf("We currently do not have sufficient %s capacity in the Availability Zone you requested (%s). Our system will be working on provisioning additional capacity. You can currently get %s capacity by not specifying an Availability Zone in your request or choosing %s.",
		t.Name, zone, t.Name, strings.Join(others, ", ")), 500}
}
