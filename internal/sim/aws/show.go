// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"cmp"
	"slices"
	"strings"
)

// showInstance is an instance as it is described. One that is terminated has no parts.
func (c *call) showInstance(i *instance) fields {
	t, _ := c.typeNamed(i.Type)
	out := fields{
		"instanceId", i.ID, "imageId", i.Image, "instanceState", showState(i.State), "instanceType", i.Type, "launchTime", i.Launched,
		"reason", i.Transition, "keyName", optional(i.KeyName), "amiLaunchIndex", i.Index, "productCodes", items{},
		"placement", fields{"availabilityZone", i.Zone, "groupName", "", "tenancy", "default"}, "monitoring", fields{"state", monitoring(i)},
		"architecture", t.Arch, "rootDeviceType", "ebs", "rootDeviceName", i.RootDevice, "virtualizationType", "hvm", "hypervisor", "xen",
		"clientToken", i.Token, "ebsOptimized", i.EBSOptimized, "enaSupport", true, "tagSet", tagSet(i.Tags),
		"blockDeviceMapping", c.showDisks(i), "networkInterfaceSet", c.showInterfaces(i), "metadataOptions", i.Metadata.show(),
		"cpuOptions", fields{"coreCount", max(t.CPU/2, 1), "threadsPerCore", min(t.CPU, 2)}, "platformDetails", "Linux/UNIX",
		"maintenanceOptions", fields{"autoRecovery", "default"}, "privateDnsNameOptions", fields{"hostnameType", "ip-name"},
	}
	if i.Reason != "" {
		out = append(out, "stateReason", fields{"code", i.Reason, "message", i.ReasonText})
	}
	if i.Profile != "" {
		out = append(out, "iamInstanceProfile", fields{"arn", i.Profile, "id", derivedID("AIPA", i.Profile)})
	}
	return append(out, c.showPlace(i)...)
}

// showPlace is where an instance is on the network.
func (c *call) showPlace(i *instance) fields {
	if len(i.Interfaces) == 0 || c.st.interfaces.ByID[i.Interfaces[0]] == nil {
		return fields{"privateDnsName", "", "dnsName", ""}
	}
	n := c.st.interfaces.ByID[i.Interfaces[0]]
	return fields{
		"subnetId", i.Subnet, "vpcId", i.VPC, "privateIpAddress", n.Address, "privateDnsName", n.privateDNS(c.seed.Region),
		"ipAddress", optional(n.Public), "dnsName", publicDNS(n.Public, c.seed.Region), "sourceDestCheck", n.SourceDestCheck,
		"groupSet", c.groupSet(n.Groups),
	}
}

func monitoring(i *instance) string {
	if i.Monitored {
		return "enabled"
	}
	return "disabled"
}

func (c *call) showDisks(i *instance) items {
	return items(list(c.disks(i.ID), func(v *volume) fields {
		return fields{"deviceName", v.Device, "ebs", fields{
			"volumeId", v.ID, "status", "attached", "attachTime", v.Created, "deleteOnTermination", v.DeleteOnTermination,
		}}
	}))
}

// disks are the volumes of an instance, those with a snapshot, which it boots from, first.
func (c *call) disks(instance string) []*volume {
	out := c.st.volumes.Where(func(v *volume) bool { return v.Instance == instance })
	slices.SortFunc(out, func(a, b *volume) int {
		return cmp.Or(-strings.Compare(a.Snapshot, b.Snapshot), strings.Compare(a.Device, b.Device))
	})
	return out
}

func (c *call) showInterfaces(i *instance) items {
	out := items{}
	for index, id := range i.Interfaces {
		n := c.st.interfaces.ByID[id]
		if n == nil {
			continue
		}
		out = append(out, append(c.interfaceBase(n), "attachment", fields{
			"attachmentId", "eni-attach-" + n.ID[4:], "deviceIndex", index, "status", "attached", "attachTime", n.Attached,
			"deleteOnTermination", n.DeleteOnTermination, "networkCardIndex", 0,
		}))
	}
	return out
}

func (m metadataOptions) show() fields {
	return fields{
		"state", "applied", "httpTokens", m.Tokens, "httpPutResponseHopLimit", m.HopLimit, "httpEndpoint", m.Endpoint,
		"httpProtocolIpv6", m.IPv6, "instanceMetadataTags", m.Tags,
	}
}
