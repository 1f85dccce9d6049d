// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

func launched(i types.Instance) time.Time { return value(i.LaunchTime) }

// report returns the state of an instance.
func report(i types.Instance, ref provider.MachineRef) provider.Machine {
	id, zone := value(i.InstanceId), zoneOf(i)
	m := provider.Machine{Ref: ref, ID: id, State: provider.StatePending}
	var state types.InstanceStateName
	if i.State != nil {
		state = i.State.Name
	}
	switch state {
	case types.InstanceStateNameTerminated:
		return provider.Machine{Ref: ref, State: provider.StateAbsent, Certain: true, Message: ended(i)}
	case types.InstanceStateNameShuttingDown:
		m.State, m.Message = provider.StateDeleting, "instance "+id+" is shutting down"
	case types.InstanceStateNameStopping:
		m.Message = "instance " + id + " is being stopped" + because(i)
	case types.InstanceStateNameStopped:
		m.State, m.Message = provider.StateStopped, "instance "+id+" is stopped"+because(i)
	case types.InstanceStateNameRunning:
		m.Addresses, m.MAC = addresses(i)
		m.Disks = disks(i)
		m.NodeProviderID = fmt.Sprintf("aws:///%s/%s", zone, id)
		m.State = provider.StateRunning
		if len(m.Addresses) == 0 {
			m.State, m.Reason, m.Message = provider.StatePending, provider.ReasonNoAddress, "instance "+id+" runs without an address"
		}
	default:
		m.Message = fmt.Sprintf("instance %s (%s in %s) is starting", id, i.InstanceType, zone)
	}
	return m
}

func zoneOf(i types.Instance) string {
	if i.Placement == nil {
		return ""
	}
	return value(i.Placement.AvailabilityZone)
}

// because is why EC2 changed the state of an instance.
func because(i types.Instance) string {
	if i.StateReason == nil || value(i.StateReason.Message) == "" {
		return ""
	}
	return ": " + value(i.StateReason.Message)
}

// ended says why an instance was terminated, unless a user asked for it.
func ended(i types.Instance) string {
	if i.StateReason == nil || strings.HasPrefix(value(i.StateReason.Code), "Client.User") {
		return ""
	}
	return "instance " + value(i.InstanceId) + " was terminated" + because(i)
}

// addresses returns the private address first, then the public one, then those of IPv6,
// and the hardware address of the first interface.
func addresses(i types.Instance) (all []netip.Addr, mac string) {
	texts := []string{value(i.PrivateIpAddress), value(i.PublicIpAddress)}
	for _, n := range i.NetworkInterfaces {
		if n.Attachment != nil && value(n.Attachment.DeviceIndex) != 0 {
			continue
		}
		mac = value(n.MacAddress)
		for _, six := range n.Ipv6Addresses {
			texts = append(texts, value(six.Ipv6Address))
		}
	}
	return provider.Addresses(texts...), mac
}

// disks returns the serial numbers under which the guest sees its disks: the ids of the
// volumes without their dash.
func disks(i types.Instance) (all []v1alpha1.MachineDisk) {
	serials := map[string]string{}
	for _, d := range i.BlockDeviceMappings {
		if d.Ebs != nil {
			serials[value(d.DeviceName)] = strings.Replace(value(d.Ebs.VolumeId), "-", "", 1)
		}
	}
	add := func(name, device string) {
		if serials[device] != "" {
			all = append(all, v1alpha1.MachineDisk{Name: name, Serial: serials[device]})
		}
	}
	add("root", value(i.RootDeviceName))
	for n := range len(serials) {
		add("disk-"+strconv.Itoa(n+1), deviceName(n))
	}
	return all
}
