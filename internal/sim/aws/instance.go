// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// The states of an instance.
const (
	pending      = "pending"
	running      = "running"
	shuttingDown = "shutting-down"
	terminated   = "terminated"
	stopping     = "stopping"
	stopped      = "stopped"
)

// listed is how long a terminated instance is still described.
const listed = time.Hour

type instance struct {
	ID, Reservation, Type, Image string
	State                        string
	// Reason is why the state is what it is, Transition the same with its time.
	Reason, ReasonText, Transition string
	Launched, Ended                time.Time
	// Visible is from when on the instance is described.
	Visible             time.Time
	Subnet, Zone, VPC   string
	Interfaces          []string // the primary one first
	RootDevice          string
	UserData            []byte
	Profile, KeyName    string
	Token               string
	Shutdown            string // stop or terminate
	Protected, Stubborn bool   // from termination, from stops
	Metadata            metadataOptions
	EBSOptimized        bool
	Monitored           bool
	Index               int
	// Ran is whether a start has succeeded.
	Ran bool
	// Copy marks what the simulator copied, for the auditor alone.
	Copy bool
	Tags tags
}

// metadataOptions are how the metadata service answers to the instance.
type metadataOptions struct {
	Tokens, Endpoint, IPv6, Tags string
	HopLimit                     int
}

func ec2Instances() map[string]operation {
	return about(ec2, fault.Machine, map[string]func(*call) (fields, error){
		"RunInstances": runInstances, "DescribeInstances": describeInstances, "DescribeInstanceStatus": describeStatus,
		"DescribeInstanceAttribute": describeAttribute, "ModifyInstanceAttribute": modifyAttribute,
		"ModifyInstanceMetadataOptions": modifyMetadata,
		"StartInstances":                startInstances, "StopInstances": stopInstances, "RebootInstances": rebootInstances,
		"TerminateInstances": terminateInstances,
	})
}

// name is the value of the tag Name.
func (i *instance) name() string { return i.Tags["Name"] }

func stateCode(state string) int {
	return map[string]int{pending: 0, running: 16, shuttingDown: 32, terminated: 48, stopping: 64, stopped: 80}[state]
}

func showState(state string) fields { return fields{"code", stateCode(state), "name", state} }

// seen returns the instances that are described now.
func (c *call) seen() []*instance {
	return c.st.instances.Where(func(i *instance) bool {
		return !c.now.Before(i.Visible) && (i.State != terminated || c.now.Sub(i.Ended) < listed)
	})
}

// instancesNamed returns the instances that the request names, or all.
func (c *call) instancesNamed() ([]*instance, error) {
	ids := c.params.List("InstanceId")
	if len(ids) == 0 {
		return c.seen(), nil
	}
	var out []*instance
	var unknown []string
	for _, id := range ids {
		if err := checkID(id, "i", "InvalidInstanceID.Malformed"); err != nil {
			return nil, err
		}
		i := c.st.instances.ByID[id]
		if i == nil || c.now.Before(i.Visible) || i.State == terminated && c.now.Sub(i.Ended) >= listed {
			unknown = append(unknown, id)
			continue
		}
		out = append(out, i)
	}
	switch len(unknown) {
	case 0:
		return out, nil
	case 1:
		return nil, refuse("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", unknown[0])
	}
	return nil, refuse("InvalidInstanceID.NotFound", "The instance IDs '%s' do not exist", strings.Join(unknown, ", "))
}

func describeInstances(c *call) (fields, error) {
	if c.params.Has("InstanceId") && c.params.Has("MaxResults") {
		return nil, refuse("InvalidParameterCombination", "The parameter instancesSet cannot be used with the parameter maxResults")
	}
	all, err := c.instancesNamed()
	if err != nil {
		return nil, err
	}
	found, err := filtered(c, all, c.instanceValues)
	if err != nil {
		return nil, err
	}
	part, next, err := page(c, ec2Pages(1000), found)
	if err != nil {
		return nil, err
	}
	return fields{"reservationSet", items(list(c.reservations(part), c.showReservation)), "nextToken", next}, nil
}

func (c *call) instanceValues(i *instance) values {
	v := values{
		"instance-id": {i.ID}, "instance-state-name": {i.State}, "instance-state-code": {fmt.Sprint(stateCode(i.State))}, "instance-type": {i.Type},
		"image-id": {i.Image}, "subnet-id": {i.Subnet}, "vpc-id": {i.VPC}, "availability-zone": {i.Zone}, "client-token": {i.Token},
		"reservation-id": {i.Reservation}, "key-name": {i.KeyName}, "root-device-name": {i.RootDevice}, "owner-id": {c.account},
		"iam-instance-profile.arn": {i.Profile}, "launch-time": {text(i.Launched)}, "architecture": nil, "private-ip-address": nil, "ip-address": nil,
		"private-dns-name": nil, "network-interface.network-interface-id": i.Interfaces, "instance.group-id": nil, "tenancy": {"default"},
		"block-device-mapping.volume-id": nil, "state-reason-code": {i.Reason}, "network-interface.addresses.private-ip-address": nil,
		"network-interface.subnet-id": {i.Subnet}, "network-interface.group-id": nil, "metadata-options.http-tokens": {i.Metadata.Tokens},
	}
	if t, known := c.typeNamed(i.Type); known {
		v["architecture"] = []string{t.Arch}
	}
	for _, id := range i.Interfaces {
		if n := c.st.interfaces.ByID[id]; n != nil {
			v["private-ip-address"] = append(v["private-ip-address"], n.Address.String())
			v["ip-address"] = append(v["ip-address"], n.Public)
			v["private-dns-name"] = append(v["private-dns-name"], n.privateDNS(c.seed.Region))
			v["instance.group-id"] = append(v["instance.group-id"], n.Groups...)
		}
	}
	v["network-interface.addresses.private-ip-address"] = v["private-ip-address"]
	v["network-interface.group-id"] = v["instance.group-id"]
	return v.tagged(i.Tags)
}

// reservations groups instances that were launched together.
func (c *call) reservations(all []*instance) (out [][]*instance) {
	places := map[string]int{}
	for _, i := range all {
		at, known := places[i.Reservation]
		if !known {
			at, out = len(out), append(out, nil)
			places[i.Reservation] = at
		}
		out[at] = append(out[at], i)
	}
	return out
}

func (c *call) showReservation(all []*instance) fields {
	slices.SortFunc(all, func(a, b *instance) int { return a.Index - b.Index })
	return fields{
		"reservationId", all[0].Reservation, "ownerId", c.account, "groupSet", items{}, "instancesSet", items(list(all, c.showInstance)),
	}
}
